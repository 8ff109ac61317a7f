/* One control group per sandbox, `bench/<id>`, in each hierarchy of version 1 or in the one of version 2. */
#include "init.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int oom_file = -1, peak_file = -1;
#define ROOT "/sys/fs/cgroup"
/* Processes of ours above the payload's limit: init and the supervisors. */
#define SUPERVISORS 512

static char *groups[4];
static int group_count;

static bool try_set(const char *group, const char *file, char *value) {
  char *path = text("%s/%s", group, file);
  bool done = write_file(path, value) == 0;
  if (!done) note("%s: %s", path, strerror(errno));
  free(path);
  free(value);
  return done;
}

/* A limit that can't be set is no sandbox. */
static void set(const char *group, const char *file, char *value) {
  if (!try_set(group, file, value)) fail("cannot set %s of the control group %s (see keeper.log)", file, group);
}

static const char *make(const char *hierarchy, const char *id) {
  char *parent = text("%s/bench", hierarchy), *group = text("%s/%s", parent, id);
  if (mkdir(parent, 0755) && errno != EEXIST) return NULL;
  /* Written down before it is made, so that whoever cleans up finds it. */
  int list = open("cgroups", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (list < 0 || !write_all(list, group, strlen(group)) || !write_all(list, "\n", 1)) fail("cannot write cgroups: %s", strerror(errno));
  close(list);
  if (mkdir(group, 0755) && errno != EEXIST) return NULL;
  groups[group_count++] = group;
  return group;
}

static int open_file(const char *group, const char *file) {
  char *path = text("%s/%s", group, file);
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  free(path);
  return fd;
}

static void version_two(const struct config *config) {
  write_file(ROOT "/cgroup.subtree_control", "+memory +pids +cpu");
  if (mkdir(ROOT "/bench", 0755) && errno != EEXIST) return;
  write_file(ROOT "/bench/cgroup.subtree_control", "+memory +pids +cpu");
  const char *group = make(ROOT, config->id);
  if (!group) return;
  set(group, "memory.max", text("%llu", config->memory));
  try_set(group, "memory.swap.max", text("0"));
  set(group, "pids.max", text("%llu", config->processes + SUPERVISORS));
  set(group, "cpu.max", text("%llu 100000", (unsigned long long)(config->cpus * 100000)));
  oom_file = open_file(group, "memory.events");
  peak_file = open_file(group, "memory.peak");
}

static void version_one(const struct config *config) {
  const char *memory = make(ROOT "/memory", config->id);
  if (memory) {
    set(memory, "memory.limit_in_bytes", text("%llu", config->memory));
    if (access(ROOT "/memory/memory.memsw.limit_in_bytes", F_OK) == 0)
      set(memory, "memory.memsw.limit_in_bytes", text("%llu", config->memory));
    oom_file = open_file(memory, "memory.oom_control");
    peak_file = open_file(memory, "memory.max_usage_in_bytes");
  }
  const char *pids = make(ROOT "/pids", config->id);
  if (pids) set(pids, "pids.max", text("%llu", config->processes + SUPERVISORS));
  const char *cpu = make(ROOT "/cpu", config->id);
  if (cpu) set(cpu, "cpu.cfs_quota_us", text("%llu", (unsigned long long)(config->cpus * 100000)));
}

void cgroup_make(const struct config *config) {
  unlink("cgroups");
  if (access(ROOT "/cgroup.controllers", F_OK) == 0) version_two(config);
  else if (access(ROOT "/memory/cgroup.procs", F_OK) == 0) version_one(config);
}

void cgroup_attach(pid_t pid) {
  for (int i = 0; i < group_count; i++)
    set(groups[i], "cgroup.procs", text("%d", pid));
}

static void kill_members(const char *group) {
  char *path = text("%s/cgroup.procs", group), *list = read_file(AT_FDCWD, path, NULL), *at = list;
  for (char *line; at && (line = strsep(&at, "\n"));)
    if (atoi(line) > 1) kill(atoi(line), SIGKILL);
  free(list);
  free(path);
}

void cgroup_remove(void) {
  char *list = read_file(AT_FDCWD, "cgroups", NULL), *at = list;
  for (char *group; at && (group = strsep(&at, "\n"));) {
    if (!*group) continue;
    for (int tries = 0; rmdir(group) && errno == EBUSY && tries < 2000; tries++) {
      kill_members(group);
      usleep(2000);
    }
  }
  free(list);
}

/* Both versions have a line `oom_kill N`. */
unsigned long long oom_kills(void) {
  char data[512];
  ssize_t size = oom_file < 0 ? -1 : pread(oom_file, data, sizeof data - 1, 0);
  if (size <= 0) return 0;
  data[size] = 0;
  char *at = strstr(data, "oom_kill ");
  return at ? strtoull(at + 9, NULL, 10) : 0;
}
