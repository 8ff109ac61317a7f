/* PID 1 of the sandbox. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

int control_folder = -1, exec_folder = -1, keeper_link = -1;
const struct config *settings;

void reap(void) {
  pid_t pid;
  while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) exec_ended(pid);
}

static void become_supervisor(void) {
  /* Keep the capabilities over the change of id; there is no exec afterwards. */
  if (prctl(PR_SET_SECUREBITS, SECBIT_NO_SETUID_FIXUP)) fail("securebits: %s", strerror(errno));
  if (setgroups(0, NULL) || setresgid(payload_ids, payload_ids, payload_ids) || setresuid(payload_ids, payload_ids, payload_ids))
    fail("cannot take the supervisor's id: %s", strerror(errno));
  /* A change of ids clears both. */
  prctl(PR_SET_DUMPABLE, 1);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void loopback_up(void) {
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  struct ifreq request = {.ifr_flags = IFF_UP | IFF_RUNNING};
  strcpy(request.ifr_name, "lo");
  /* A container's loopback is up, and init may have no right to say so. */
  if (fd < 0 || (ioctl(fd, SIOCSIFFLAGS, &request) && !settings->contained)) fail("cannot bring loopback up: %s", strerror(errno));
  close(fd);
}

/* The network belongs to the outer user namespace: what the payload's root may do in a container is allowed to all. */
static void network_settings(void) {
  if (write_file("/p/sys/net/ipv4/ip_unprivileged_port_start", "0")) note("low ports: %s", strerror(errno));
  if (write_file("/p/sys/net/ipv4/ping_group_range", "0 65535")) note("ping: %s", strerror(errno));
}

/* In a container that may not mount: in its own root. */
static void begin_plain(const struct config *config) {
  plain_begin(config);
  become_supervisor();
  if (forbid_link_local()) note("link-local addresses: %s", strerror(errno));
  proc_folder = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  control_folder = open(CONTAINER_VOLUME "/ctl", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  exec_folder = open(CONTAINER_VOLUME "/ctl/exec", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc_folder < 0 || control_folder < 0 || exec_folder < 0) fail("cannot open the sandbox's folders: %s", strerror(errno));
  layers_begin();
  control_begin();
}

static void begin(const struct config *config) {
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) 
    fail("no rights in the new user namespace: %s (remedy: sysctl kernel.apparmor_restrict_unprivileged_userns=0, or run as root)", strerror(errno));
  if (!config->bound) stage_binds(config);
  become_supervisor();
  if (unshare(CLONE_NEWCGROUP)) note("no control group namespace: %s", strerror(errno));
  if (sethostname(config->hostname, strlen(config->hostname))) note("hostname: %s", strerror(errno));
  loopback_up();
  if (forbid_link_local() && !config->contained) fail("cannot set the sandbox's routes: %s", strerror(errno));
  stage_enter(config);
  proc_folder = open("/p", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  control_folder = open("/c", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  exec_folder = open("/c/exec", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (proc_folder < 0 || control_folder < 0 || exec_folder < 0) fail("cannot open the stage: %s", strerror(errno));
  network_settings();
  inner_user_make(config->contained && !config->own_users ? 0 : config->processes);
  stage_seal(config);
  layers_begin();
  control_begin();
}

_Noreturn void init(const struct config *config, int keeper_socket) {
  settings = config;
  keeper_link = keeper_socket;
  prctl(PR_SET_NAME, "sandbox-init");
  if (config->layers) begin(config);
  else begin_plain(config);
  sigset_t mask;
  sigfillset(&mask);
  int signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) fail("signalfd: %s", strerror(errno));
  failure_socket = FAILURE_STDERR;
  send(keeper_link, "ready", 5, MSG_NOSIGNAL);
  for (;;) {
    struct pollfd wait[] = {{.fd = control_socket, .events = POLLIN}, {.fd = signals, .events = POLLIN}, {.fd = keeper_link, .events = 0}};
    if (poll(wait, 3, -1) < 0 && errno != EINTR) _exit(1);
    if (wait[2].revents & (POLLHUP | POLLERR)) _exit(0);
    struct signalfd_siginfo signal;
    while (read(signals, &signal, sizeof signal) == sizeof signal) continue;
    reap();
    if (wait[0].revents & POLLIN) control_serve();
  }
}
