/*
 * Control groups as a container sees them: the engine has set the limits of the container. Below its group is one for
 * the payload where PID 1 may make it, so that a fork bomb leaves processes for init and for the engine's calls.
 */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOT "/sys/fs/cgroup"

/* `cgroup.procs` of the payload's group; -1 when it has none. */
static int payload_group = -1;

/* Engines mount them read-only; undone in PID 1's eyes only. */
static bool writable(const char *mount_point) {
  return mount(NULL, mount_point, NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) == 0;
}

static void make_payload_group(const char *parent, unsigned long long processes) {
  char *group = text("%s/bench-payload", parent), *limit = text("%s/pids.max", group), *members = text("%s/cgroup.procs", group);
  char *value = text("%llu", processes);
  if (mkdir(group, 0755) && errno != EEXIST) note("%s: %s", group, strerror(errno));
  else if (write_file(limit, value)) note("%s: %s", limit, strerror(errno));
  else payload_group = open(members, O_WRONLY | O_CLOEXEC);
  free(group);
  free(limit);
  free(members);
  free(value);
}

/* Version 2 lets a group either hold processes or divide what it has among groups below it. */
static bool move_own_down(void) {
  if (mkdir(ROOT "/bench-init", 0755) && errno != EEXIST) return false;
  char *list = read_file(AT_FDCWD, ROOT "/cgroup.procs", NULL), *at = list;
  for (char *line; at && (line = strsep(&at, "\n"));)
    if (*line && write_file(ROOT "/bench-init/cgroup.procs", line) && errno != ESRCH) note("cgroup.procs: %s", strerror(errno));
  free(list);
  return write_file(ROOT "/cgroup.subtree_control", "+pids") == 0;
}

static void version_two(const struct config *config) {
  oom_file = open(ROOT "/memory.events", O_RDONLY | O_CLOEXEC);
  peak_file = open(ROOT "/memory.peak", O_RDONLY | O_CLOEXEC);
  if (writable(ROOT) && move_own_down()) make_payload_group(ROOT, config->processes);
  else note("no control group of the payload's own: %s", strerror(errno));
}

static void version_one(const struct config *config) {
  oom_file = open(ROOT "/memory/memory.oom_control", O_RDONLY | O_CLOEXEC);
  peak_file = open(ROOT "/memory/memory.max_usage_in_bytes", O_RDONLY | O_CLOEXEC);
  if (writable(ROOT "/pids")) make_payload_group(ROOT "/pids", config->processes);
  else note("no control group of the payload's own: %s", strerror(errno));
}

void container_groups(const struct config *config) {
  if (access(ROOT "/cgroup.controllers", F_OK) == 0) version_two(config);
  else version_one(config);
}

void join_payload_group(void) {
  if (payload_group >= 0 && pwrite(payload_group, "0", 1, 0) != 1) note("sandbox: control group: %s", strerror(errno));
}
