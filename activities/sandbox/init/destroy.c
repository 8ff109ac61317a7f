/* Ends a sandbox from outside, whatever state its keeper is in; removing its folder is left to the driver. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The process that wrote itself into the file, as a pidfd; -1 when it is gone (its pid may be another's by now). */
static int recorded(const char *file) {
  char *identity = read_file(AT_FDCWD, file, NULL);
  if (!identity) return -1;
  char *rest;
  pid_t pid = (pid_t)strtol(identity, &rest, 10);
  unsigned long long started = strtoull(rest, NULL, 10);
  int fd = pid > 1 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
  if (fd >= 0 && start_time(pid) != started) {
    close(fd);
    fd = -1;
  }
  free(identity);
  return fd;
}

static bool ended(int process, int milliseconds) {
  struct pollfd wait = {.fd = process, .events = POLLIN};
  int got;
  while ((got = poll(&wait, 1, milliseconds)) < 0 && errno == EINTR) continue;
  return got == 1;
}

int destroy(const char *folder) {
  failure_socket = FAILURE_STDERR;
  if (chdir(folder)) return errno == ENOENT ? 0 : 1;
  int lock = open("lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600), keeper = -1;
  bool stopped = false;
  /* Who has the lock is the keeper; one that has just started may not have written itself down yet. */
  for (int tries = 0; lock >= 0 && !(stopped = flock(lock, LOCK_EX | LOCK_NB) == 0) && keeper < 0 && tries < 1000; tries++) {
    keeper = recorded("keeper");
    if (keeper < 0) usleep(5000);
  }
  int inside = recorded("ready");
  /* Keeps a keeper that starts from now on from going to work. */
  if (replace_file(AT_FDCWD, "destroyed", "")) return 1;
  if (!stopped && keeper >= 0) {
    syscall(SYS_pidfd_send_signal, keeper, SIGTERM, NULL, 0);
    if (!ended(keeper, 10000)) {
      syscall(SYS_pidfd_send_signal, keeper, SIGKILL, NULL, 0);
      ended(keeper, 5000);
    }
  }
  if (inside >= 0) {
    syscall(SYS_pidfd_send_signal, inside, SIGKILL, NULL, 0);
    if (!ended(inside, 20000)) {
      note("the sandbox's processes in %s do not end", folder);
      return 1;
    }
  }
  cgroup_remove();
  volume_wait();
  return 0;
}
