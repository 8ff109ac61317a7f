/* The payload's user namespace: all ids of the outer one but init's, no further namespaces below it. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int inner_user = -1;
unsigned payload_ids = 65536;

static _Noreturn void hold_namespace(unsigned long long processes, int made, int mapped) {
  /* The limit of the maker bounds the whole namespace, whatever ids its processes take. */
  struct rlimit limit = {processes, processes};
  if (processes && setrlimit(RLIMIT_NPROC, &limit)) note("process limit: %s", strerror(errno));
  if (unshare(CLONE_NEWUSER)) fail("cannot make the inner user namespace: %s", strerror(errno));
  write_all(made, "m", 1);
  if (pipe_wait(mapped)) _exit(1);
  if (write_file("/p/sys/user/max_user_namespaces", "0")) fail("cannot forbid further user namespaces: %s", strerror(errno));
  write_all(made, "m", 1);
  pipe_wait(mapped);
  _exit(0);
}

/* No limit when `processes` is 0: the maker's id counts for all sandboxes that share the outer user namespace. */
void inner_user_make(unsigned long long processes) {
  int made[2], mapped[2];
  if (pipe2(made, O_CLOEXEC) || pipe2(mapped, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
  pid_t pid = fork();
  if (pid < 0) fail("fork: %s", strerror(errno));
  if (pid == 0) {
    close(mapped[1]);
    hold_namespace(processes, made[1], mapped[0]);
  }
  close(made[1]);
  if (pipe_wait(made[0])) fail("the inner user namespace was not made");
  /* Two ranges: for a user the outer map has a border there, which one range may not cross. */
  static const char *const files[] = {"uid_map", "gid_map"};
  for (int i = 0; i < 2; i++) {
    char *path = text("/p/%d/%s", pid, files[i]), *map = text("0 0 1\n1 1 %u\n", payload_ids - 1);
    if (write_file(path, map)) fail("cannot write the inner %s: %s", files[i], strerror(errno));
    free(path);
    free(map);
  }
  write_all(mapped[1], "m", 1);
  if (pipe_wait(made[0])) fail("the inner user namespace was not locked");
  char *path = text("/p/%d/ns/user", pid);
  inner_user = open(path, O_RDONLY | O_CLOEXEC);
  if (inner_user < 0) fail("%s: %s", path, strerror(errno));
  free(path);
  close(mapped[0]);
  close(mapped[1]);
  close(made[0]);
  waitpid(pid, NULL, 0);
}

void inner_user_enter(void) {
  if (setns(inner_user, CLONE_NEWUSER) || setgroups(0, NULL) || setresgid(0, 0, 0) || setresuid(0, 0, 0)) {
    note("sandbox: cannot become root: %s", strerror(errno));
    _exit(126);
  }
}
