/* The outside network: slirp4netns, a user-mode stack beside the sandbox. Ending it cuts the sandbox off. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t helper;
/* While this end is open the helper runs; it closes with the keeper. */
static int lifeline = -1;

static _Noreturn void run_helper(pid_t init, int ready, int exit_fd) {
  char *ready_text = text("%d", ready), *exit_text = text("%d", exit_fd), *target = text("%d", init);
  fcntl(ready, F_SETFD, 0);
  fcntl(exit_fd, F_SETFD, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  execlp("slirp4netns", "slirp4netns", "--configure", "--mtu=65520", "--disable-host-loopback", "--enable-sandbox",
         "--enable-seccomp", "--ready-fd", ready_text, "--exit-fd", exit_text, target, "tap0", (char *)NULL);
  note("slirp4netns: %s", strerror(errno));
  _exit(127);
}

void network_start(pid_t init) {
  if (helper) return;
  int ready[2], alive[2];
  if (pipe2(ready, O_CLOEXEC) || pipe2(alive, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
  helper = fork();
  if (helper < 0) fail("cannot fork the network helper: %s", strerror(errno));
  if (helper == 0) run_helper(init, ready[1], alive[0]);
  close(ready[1]);
  close(alive[0]);
  lifeline = alive[1];
  struct pollfd wait = {.fd = ready[0], .events = POLLIN};
  int got;
  while ((got = poll(&wait, 1, 10000)) < 0 && errno == EINTR) continue;
  if (got != 1 || pipe_wait(ready[0])) {
    network_stop();
    note("the network helper did not start");
  }
  close(ready[0]);
}

void network_stop(void) {
  if (!helper) return;
  kill(helper, SIGKILL);
  while (waitpid(helper, NULL, 0) < 0 && errno == EINTR) continue;
  helper = 0;
  close(lifeline);
}

bool network_ended(pid_t pid) {
  if (!helper || pid != helper) return false;
  helper = 0;
  close(lifeline);
  return true;
}

bool network_runs(void) { return helper != 0; }
