/*
 * A container that has no right to mount: commands run in its own root and among its own processes, with the same
 * protocol and limits, and without frames. Supervisors have another user's id, and the payload no right to end those;
 * but its root can read and change all files of the container, the sandbox's own included.
 */
#include "init.h"
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int64_t plain_since;

/* In a container from a frame, what the one before it linked. */
static bool linked(const struct bind_mount *mount) {
  char source[PATH_MAX];
  ssize_t size = readlink(mount->target, source, sizeof source - 1);
  source[size > 0 ? size : 0] = 0;
  return !strcmp(source, mount->source);
}

/* What can't be mounted is linked to. */
static void link_mount(const struct bind_mount *mount) {
  if (linked(mount)) return;
  char *path = text("%s", mount->target);
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0755);
    *slash = '/';
  }
  if (mount->directory ? rmdir(path) : unlink(path)) {
    if (errno != ENOENT) fail("cannot show %s: what is there can't be replaced: %s", path, strerror(errno));
  }
  if (symlink(mount->source, path)) fail("cannot show %s: %s", path, strerror(errno));
  free(path);
}

void plain_begin(const struct config *config) {
  for (int i = 0; i < config->mount_count; i++) link_mount(&config->mounts[i]);
  plain_since = config->began ? (int64_t)config->began : time(NULL);
}

/* Root as engines make it: what it inherits is bounded like the rest, and a change of user takes rights away again. */
void plain_root_enter(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct sets[2];
  if (setgroups(0, NULL) || setresgid(0, 0, 0) || setresuid(0, 0, 0) || prctl(PR_SET_SECUREBITS, SECUREBITS_DEFAULT) ||
      prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) || syscall(SYS_capget, &header, sets)) {
    note("sandbox: cannot become root: %s", strerror(errno));
    _exit(126);
  }
  sets[0].inheritable = sets[1].inheritable = 0;
  if (syscall(SYS_capset, &header, sets)) {
    note("sandbox: cannot become root: %s", strerror(errno));
    _exit(126);
  }
}
