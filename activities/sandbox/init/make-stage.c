/* What both keepers do around the start of init: folders for its mounts, and its first message. */
#include "init.h"
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define READY_MILLISECONDS 30000

/* Made here because in the outer user namespace nobody owns the host's folders. */
void make_stage(const struct config *config) {
  static const char *const folders[] = {"stage", "stage/b", "stage/v", "stage/c", "stage/p", "stage/s", "stage/d", "stage/n", "stage/r", "stage/m"};
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
    if (mkdir(folders[i], 0755) && errno != EEXIST) fail("cannot make %s: %s", folders[i], strerror(errno));
  for (int i = 0; i < config->mount_count; i++) {
    char *path = text("stage/m/%d", i);
    int made = config->mounts[i].directory ? mkdir(path, 0755) : mknod(path, S_IFREG | 0644, 0);
    if (made && errno != EEXIST) fail("cannot make %s: %s", path, strerror(errno));
    free(path);
  }
}

const char *wait_ready(int link) {
  static char message[2200];
  struct pollfd wait = {.fd = link, .events = POLLIN};
  int got;
  while ((got = poll(&wait, 1, READY_MILLISECONDS)) < 0 && errno == EINTR) continue;
  ssize_t size = got == 1 ? recv(link, message, sizeof message - 1, 0) : -1;
  if (size > 0) message[size] = 0;
  if (size > 0 && !strcmp(message, "ready")) return NULL;
  return size > 7 ? message + 7 : "the sandbox's init ended or hung while setting up (see its log)";
}
