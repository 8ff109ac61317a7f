/* Answers that need the file systems: one file of a root, and how much is used. Run by children of init. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Noreturn void finish(int connection, const char *line) {
  write_all(connection, line, strlen(line));
  _exit(0);
}

static void send_content(int connection, int fd, unsigned long long size) {
  static char data[1 << 16];
  while (size > 0) {
    ssize_t got = read(fd, data, size < sizeof data ? (size_t)size : sizeof data);
    /* A file that shrinks meanwhile ends the connection early, which the other side takes for an error. */
    if (got <= 0 || !write_all(connection, data, (size_t)got)) _exit(1);
    size -= (unsigned long long)got;
  }
}

/* As the payload's root and inside its root: no link leads out, and nothing but plain files is read. */
void serve_file(int connection, const struct layer *layer, unsigned long long limit, const char *path) {
  if (!settings->layers) {
    plain_root_enter();
  } else {
    if (setns(layer_namespace(layer), CLONE_NEWNS)) finish(connection, "error cannot enter the root\n");
    inner_user_enter();
  }
  struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
  int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof how);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) finish(connection, "missing\n");
  if (fd < 0) finish(connection, text("error cannot open: %s\n", strerror(errno)));
  struct stat info;
  struct statfs system;
  if (fstat(fd, &info) || fstatfs(fd, &system)) finish(connection, "error cannot stat\n");
  if (!S_ISREG(info.st_mode) || system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC) finish(connection, "error not a regular file\n");
  if ((unsigned long long)info.st_size > limit) finish(connection, text("error %lld bytes, over the limit of %llu\n", (long long)info.st_size, limit));
  char *head = text("ok %lld\n", (long long)info.st_size);
  write_all(connection, head, strlen(head));
  send_content(connection, fd, (unsigned long long)info.st_size);
  _exit(0);
}

static unsigned long long disk_bytes(void) {
  struct statfs system;
  if (!settings->layers) return folder_usage("/", plain_since);
  if (!settings->volume) return folder_usage("/v", 0);
  return statfs("/v", &system) ? 0 : (unsigned long long)(system.f_blocks - system.f_bfree) * (unsigned long long)system.f_bsize;
}

void serve_usage(int connection) {
  char peak[64] = "";
  ssize_t size = peak_file < 0 ? 0 : pread(peak_file, peak, sizeof peak - 1, 0);
  long long memory = size > 0 ? atoll(peak) : -1;
  finish(connection, text("ok %llu %lld %llu\n", disk_bytes(), memory, oom_kills()));
}
