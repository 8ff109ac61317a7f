/* Id maps of the outer user namespace: written directly by root, through newuidmap and newgidmap by others. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(char *const argv[]) {
  pid_t pid = fork();
  if (pid == 0) {
    execvp(argv[0], argv);
    note("%s: %s", argv[0], strerror(errno));
    _exit(127);
  }
  int status;
  if (pid < 0 || waitpid(pid, &status, 0) < 0) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void map_by_root(pid_t pid, const char *kind, unsigned long long id_base) {
  char *path = text("/proc/%d/%s", pid, kind), *map = text("0 %llu %u\n", id_base, payload_ids + 1);
  if (write_file(path, map)) fail("cannot write %s: %s", path, strerror(errno));
  free(path);
  free(map);
}

/* The user is 0 inside; 1..65536 are the subordinate ids. */
static void map_by_helper(const char *helper, pid_t pid, unsigned own, unsigned long long id_base) {
  char *argv[] = {(char *)helper, text("%d", pid), "0", text("%u", own), "1", "1", text("%llu", id_base),
                  text("%u", payload_ids), NULL};
  if (run(argv)) fail("%s refused the map: the user needs 65536 ids in /etc/subuid and /etc/subgid and the package uidmap", helper);
}

void write_maps(pid_t pid, const struct config *config) {
  if (geteuid() == 0) {
    map_by_root(pid, "uid_map", config->id_base);
    map_by_root(pid, "gid_map", config->group_base);
  } else {
    map_by_helper("newuidmap", pid, geteuid(), config->id_base);
    map_by_helper("newgidmap", pid, getegid(), config->group_base);
  }
}

int pipe_wait(int fd) {
  char byte;
  ssize_t got;
  while ((got = read(fd, &byte, 1)) < 0 && errno == EINTR) continue;
  return got == 1 ? 0 : -1;
}

/* mapped ID_BASE GROUP_BASE COMMAND...: the command as root of the outer user namespace, in the present folder. */
int run_mapped(int argc, char **argv) {
  failure_socket = FAILURE_STDERR;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (argc < 5) fail("usage: sandbox-init mapped ID_BASE GROUP_BASE COMMAND...");
  struct config config = {.id_base = strtoull(argv[2], NULL, 10), .group_base = strtoull(argv[3], NULL, 10)};
  int go[2];
  if (pipe2(go, O_CLOEXEC)) fail("pipe: %s", strerror(errno));
  pid_t pid = (pid_t)syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
  if (pid < 0) fail("no user namespaces here: %s (user.max_user_namespaces, kernel.unprivileged_userns_clone)", strerror(errno));
  if (pid == 0) {
    close(go[1]);
    if (pipe_wait(go[0])) _exit(1);
    if (setgroups(0, NULL) || setresgid(0, 0, 0) || setresuid(0, 0, 0)) fail("cannot become root inside: %s", strerror(errno));
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execvp(argv[4], argv + 4);
    fail("%s: %s", argv[4], strerror(errno));
  }
  close(go[0]);
  write_maps(pid, &config);
  write_all(go[1], "g", 1);
  int status;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return 1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
