/* Finding and ending processes by what they cannot change: their ancestors and their mount namespace. */
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

int proc_folder = -1;

#define PIDS (1 << 22)
/* By pid: the parent, and whether the signal was sent in this round. Only touched pages cost memory. */
static pid_t parents[PIDS];
static unsigned char seen[PIDS];
static pid_t *found;
static int found_count, found_room;

static void add(pid_t pid) {
  if (found_count == found_room) {
    found_room = found_room ? found_room * 2 : 1024;
    found = realloc(found, sizeof *found * (size_t)found_room);
    if (!found) _exit(1);
  }
  found[found_count++] = pid;
}

/* Parent of a live process; 0 for zombies and the gone. */
static pid_t parent_of(pid_t pid) {
  char path[32], data[512];
  snprintf(path, sizeof path, "%d/stat", pid);
  int fd = openat(proc_folder, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  ssize_t size = read(fd, data, sizeof data - 1);
  close(fd);
  if (size <= 0) return 0;
  data[size] = 0;
  char *at = strrchr(data, ')');
  if (!at) return 0;
  char state;
  int parent, threads;
  if (sscanf(at + 2, "%c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %d", &state, &parent, &threads) != 3) return 0;
  /* A process whose first thread has ended looks like a zombie but has other threads. */
  return (state == 'Z' || state == 'X') && threads <= 1 ? 0 : parent;
}

/* Fills `found` with all pids of this pid namespace but 1. */
static void list_processes(void) {
  found_count = 0;
  int fd = openat(proc_folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  if (!folder) return;
  for (struct dirent *entry; (entry = readdir(folder));) {
    pid_t pid = (pid_t)atoi(entry->d_name);
    if (pid > 1 && pid < PIDS) add(pid);
  }
  closedir(folder);
}

static void keep_descendants(pid_t ancestor) {
  for (int i = 0; i < found_count; i++) parents[found[i]] = parent_of(found[i]);
  int kept = 0;
  for (int i = 0; i < found_count; i++) {
    pid_t at = parents[found[i]];
    for (int depth = 0; at > 1 && at != ancestor && depth < PIDS; depth++) at = parents[at];
    if (at == ancestor) found[kept++] = found[i];
  }
  for (int i = 0; i < found_count; i++) parents[found[i]] = 0;
  found_count = kept;
}

/* Mount namespace of a process, 0 when it is gone. A first thread that has ended has none, so any thread will do. */
static ino_t namespace_of(pid_t pid) {
  char path[64];
  struct stat info;
  snprintf(path, sizeof path, "%d/ns/mnt", pid);
  if (fstatat(proc_folder, path, &info, 0) == 0) return info.st_ino;
  snprintf(path, sizeof path, "%d/task", pid);
  int fd = openat(proc_folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *folder = fd < 0 ? NULL : fdopendir(fd);
  ino_t result = 0;
  for (struct dirent *entry; folder && !result && (entry = readdir(folder));) {
    snprintf(path, sizeof path, "%.20s/ns/mnt", entry->d_name);
    if (*entry->d_name != '.' && fstatat(fd, path, &info, 0) == 0) result = info.st_ino;
  }
  if (folder) closedir(folder);
  return result;
}

static void keep_namespace(ino_t mount_namespace) {
  int kept = 0;
  for (int i = 0; i < found_count; i++)
    if (namespace_of(found[i]) == mount_namespace) found[kept++] = found[i];
  found_count = kept;
}

static void find(pid_t ancestor, ino_t mount_namespace) {
  list_processes();
  if (ancestor) keep_descendants(ancestor);
  else keep_namespace(mount_namespace);
}

static int signal_found(int signal) {
  int fresh = 0;
  for (int i = 0; i < found_count; i++) {
    if (!seen[found[i]]) fresh++;
    seen[found[i]] = 1;
    kill(found[i], signal);
  }
  return fresh;
}

static int kill_all(pid_t ancestor, ino_t mount_namespace) {
  find(ancestor, mount_namespace);
  if (found_count == 0) return 0;
  memset(seen, 0, sizeof seen);
  for (int round = 0; round < 100 && signal_found(SIGSTOP) > 0; round++) find(ancestor, mount_namespace);
  signal_found(SIGKILL);
  return found_count;
}

int signal_descendants(pid_t ancestor, int signal) {
  find(ancestor, 0);
  signal_found(signal);
  return found_count;
}

int signal_namespace(ino_t mount_namespace, int signal) {
  find(0, mount_namespace);
  signal_found(signal);
  return found_count;
}

int kill_descendants(pid_t ancestor) { return kill_all(ancestor, 0); }
int kill_namespace(ino_t mount_namespace) { return kill_all(0, mount_namespace); }
