/* The host side of one sandbox. It outlives the worker that started it, and the sandbox does not outlive it. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static struct config config;
static pid_t init_pid;
static int lock = -1, signals = -1;

static void detach(void) {
  setsid();
  umask(022);
  int null = open("/dev/null", O_RDWR), log = open("keeper.log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (null < 0 || log < 0) fail("cannot open the log: %s", strerror(errno));
  dup2(null, 0);
  dup2(log, 1);
  dup2(log, 2);
  syscall(SYS_close_range, 3, ~0U, 0);
}

static void start_init(int link[2]) {
  int go[2];
  if (pipe2(go, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
  unsigned long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | SIGCHLD;
  init_pid = (pid_t)syscall(SYS_clone, flags, 0, 0, 0, 0);
  if (init_pid < 0)
    fail("cannot make the sandbox's namespaces: %s (are user namespaces allowed? sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone)", strerror(errno));
  if (init_pid == 0) {
    failure_socket = link[1];
    close(link[0]);
    close(go[1]);
    close(lock);
    close(signals);
    if (pipe_wait(go[0])) _exit(1);
    close(go[0]);
    init(&config, link[1]);
  }
  close(go[0]);
  close(link[1]);
  write_maps(init_pid, &config);
  cgroup_attach(init_pid);
  write_all(go[1], "g", 1);
  close(go[1]);
}

static void start_ready(int link) {
  const char *problem = wait_ready(link);
  if (!problem) return;
  kill(init_pid, SIGKILL);
  waitpid(init_pid, NULL, 0);
  volume_discard();
  cgroup_remove();
  fail("%s", problem);
}

static void serve(int link) {
  char message[64];
  ssize_t size = recv(link, message, sizeof message - 1, MSG_DONTWAIT);
  if (size <= 0) return;
  message[size] = 0;
  if (!strcmp(message, "network on")) network_start(init_pid);
  if (!strcmp(message, "network off")) network_stop();
  config.network = !strcmp(message, "network on");
  const char *answer = network_runs() == config.network ? "ok" : "the network helper does not start (remedy: apt-get install slirp4netns)";
  send(link, answer, strlen(answer), MSG_NOSIGNAL);
}

/* Reaps; false once init has ended. */
static bool reap_children(void) {
  pid_t pid;
  while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
    if (pid == init_pid) return false;
    if (network_ended(pid) && config.network) {
      note("the network helper ended; starting another");
      usleep(200000);
      network_start(init_pid);
    }
  }
  return true;
}

static void watch(int link, double deadline) {
  for (;;) {
    double left = deadline - now();
    if (left <= 0) {
      note("the sandbox's deadline is over");
      return;
    }
    struct pollfd wait[] = {{.fd = signals, .events = POLLIN}, {.fd = link, .events = POLLIN}};
    if (poll(wait, 2, left > 3600 ? 3600000 : (int)(left * 1000) + 1) < 0 && errno != EINTR) return;
    if (wait[1].revents & POLLIN) serve(link);
    if (wait[1].revents & POLLHUP && !(wait[1].revents & POLLIN)) return;
    struct signalfd_siginfo signal;
    if (wait[0].revents && read(signals, &signal, sizeof signal) == sizeof signal && signal.ssi_signo != SIGCHLD) return;
    if (!reap_children()) return;
  }
}

int keeper(const char *folder, char **argv) {
  if (chdir(folder)) fail("cannot enter %s: %s", folder, strerror(errno));
  detach();
  lock = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) || access("destroyed", F_OK) == 0) return 3;
  hide_arguments(argv, "sandbox-keeper");
  double deadline = now();
  load_config(&config);
  deadline += (double)config.deadline;
  char *identity = text("%d %llu\n", getpid(), start_time(getpid()));
  if (replace_file(AT_FDCWD, "keeper", identity)) fail("cannot write keeper: %s", strerror(errno));
  sigset_t mask;
  sigfillset(&mask);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  int link[2];
  signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link)) fail("keeper set-up: %s", strerror(errno));
  if (geteuid() == 0 && (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL)))
    fail("cannot make a private mount namespace: %s", strerror(errno));
  make_stage(&config);
  if (replace_file(AT_FDCWD, "stage/resolv.conf", "nameserver 10.0.2.3\n")) fail("cannot write resolv.conf: %s", strerror(errno));
  volume_mount(&config);
  if (geteuid() == 0) stage_binds(&config);
  config.bound = geteuid() == 0;
  cgroup_make(&config);
  start_init(link);
  start_ready(link[0]);
  if (config.network) network_start(init_pid);
  if (config.network && !network_runs()) note("no outside network (remedy: apt-get install slirp4netns)");
  char *ready = text("%d %llu %d\n", init_pid, start_time(init_pid), network_runs() == config.network);
  if (replace_file(AT_FDCWD, "ready", ready)) fail("cannot write ready: %s", strerror(errno));
  watch(link[0], deadline);
  kill(init_pid, SIGKILL);
  network_stop();
  while (waitpid(init_pid, NULL, 0) < 0 && errno == EINTR) continue;
  volume_discard();
  cgroup_remove();
  return 0;
}
