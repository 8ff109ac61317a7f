/* How much is written below a folder. */
#include "init.h"
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_DEPTH 200

static dev_t device;
static int64_t changed_since;

/* Takes over the descriptor. */
static unsigned long long count(int folder, int depth) {
  unsigned long long total = 0;
  DIR *list = fdopendir(folder);
  for (struct dirent *entry; list && (entry = readdir(list));) {
    struct stat info;
    if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
    if (fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW)) continue;
    if (info.st_ctime >= changed_since) total += (unsigned long long)info.st_blocks * 512;
    if (!S_ISDIR(info.st_mode) || info.st_dev != device || depth == MAX_DEPTH) continue;
    int inner = openat(folder, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner >= 0) total += count(inner, depth + 1);
  }
  if (list) closedir(list);
  return total;
}

unsigned long long folder_usage(const char *path, int64_t since) {
  struct stat info;
  int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0 || fstat(folder, &info)) return 0;
  device = info.st_dev;
  changed_since = since;
  return count(folder, 0);
}
