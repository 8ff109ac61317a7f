/* Removing dropped layers beside the work, so that a pop does not wait for thousands of files. */
#include "init.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Deeper folders are moved up first: a hostile tree is deeper than any stack. */
#define MAX_DEPTH 64

static int trash = -1;
static unsigned moved;

static void empty(int folder, int depth);

static void remove_entry(int folder, const char *name, int depth) {
  if (unlinkat(folder, name, 0) == 0 || (errno != EISDIR && errno != EPERM)) return;
  if (depth == MAX_DEPTH) {
    char place[48];
    snprintf(place, sizeof place, "deep-%d-%u", getpid(), moved++);
    if (renameat(folder, name, trash, place)) note("cannot move %s: %s", name, strerror(errno));
    return;
  }
  int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (inner >= 0) empty(inner, depth + 1);
  unlinkat(folder, name, AT_REMOVEDIR);
}

/* Takes over the descriptor. */
static void empty(int folder, int depth) {
  DIR *list = fdopendir(folder);
  if (!list) return;
  for (struct dirent *entry; (entry = readdir(list));)
    if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) remove_entry(folder, entry->d_name, depth);
  closedir(list);
}

void discard_layer(const char *folder, int namespace) {
  static unsigned number;
  if (mkdir("v/trash", 0700) && errno != EEXIST) note("cannot make the trash: %s", strerror(errno));
  char *place = text("v/trash/%u", number++);
  if (rename(folder, place)) note("cannot discard %s: %s", folder, strerror(errno));
  free(place);
  int closed[2] = {-1, -1};
  if (pipe2(closed, O_CLOEXEC)) note("pipe: %s", strerror(errno));
  pid_t pid = fork();
  if (pid) {
    close(namespace);
    close(closed[0]);
    close(closed[1]);
    return;
  }
  /* Whoever closes the namespace last unmounts, which takes time with the number of files: not init. */
  close(closed[1]);
  pipe_wait(closed[0]);
  syscall(SYS_close_range, 3, ~0U, 0);
  setpriority(PRIO_PROCESS, 0, 10);
  for (int rounds = 0; rounds < 10000; rounds++) {
    trash = open("v/trash", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    unsigned before = moved;
    empty(dup(trash), 0);
    close(trash);
    if (moved == before) break;
  }
  _exit(0);
}
