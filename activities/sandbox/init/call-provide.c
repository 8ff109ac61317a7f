/* Brings what the engine can't mount: a tar, unpacked below the mounts' folder by the container's own tar. */
#include "call.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void unpack(const char *draft, const char *folder) {
  char *argv[] = {"tar", "-x", "-f", (char *)draft, "-C", (char *)folder, "--no-same-owner", NULL};
  char *environment[] = {"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", NULL};
  pid_t pid = fork();
  if (pid == 0) {
    dup2(2, 1);
    execvpe("tar", argv, environment);
    note("tar: %s", strerror(errno));
    _exit(127);
  }
  int status;
  /* A large one takes its time; its size bounds it. */
  alarm(0);
  if (pid < 0 || waitpid(pid, &status, 0) < 0) reply_text("failed", "cannot run tar: %s", strerror(errno));
  if (status) reply_text("refused", "tar in the container ended with %d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

/* Each entry appears whole; one that is there already came with an earlier try. */
static void move_up(const char *folder) {
  int from = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *list = from < 0 ? NULL : fdopendir(from);
  for (struct dirent *entry; list && (entry = readdir(list));) {
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    char *target = text("%s/%s", CONTAINER_MOUNTS, entry->d_name);
    if (access(target, F_OK) && renameat(from, entry->d_name, AT_FDCWD, target)) reply_text("failed", "%s: %s", target, strerror(errno));
    free(target);
  }
}

void call_provide(void) {
  char *draft = text("%s/.%d.tar", CONTAINER_MOUNTS, getpid()), *folder = text("%s/.%d", CONTAINER_MOUNTS, getpid());
  if (mkdir(CONTAINER_MOUNTS, 0755) && errno != EEXIST) reply_text("failed", "%s: %s", CONTAINER_MOUNTS, strerror(errno));
  int fd = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || (mkdir(folder, 0700) && errno != EEXIST)) reply_text("failed", "%s: %s", draft, strerror(errno));
  input_into(fd, AT_FDCWD, draft);
  close(fd);
  unpack(draft, folder);
  unlink(draft);
  move_up(folder);
  rmdir(folder);
  reply_text("ok", "%s", "");
}
