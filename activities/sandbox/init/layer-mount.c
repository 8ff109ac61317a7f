/* One layer on the volume, and the mount namespace whose root it is. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A whiteout, as overlay writes it for what was removed. */
static bool hide_home(const char *upper) {
  char *path = text("%s/.bench", upper);
  bool hidden = mknod(path, S_IFCHR, 0) == 0;
  free(path);
  return hidden;
}

static bool make_folders(unsigned number) {
  char *folder = text("v/%x", number), *upper = text("%s/d", folder), *work = text("%s/w", folder);
  struct stat base;
  bool made = stat("b", &base) == 0 && mkdir(folder, 0755) == 0 && mkdir(upper, 0755) == 0 && mkdir(work, 0755) == 0 &&
              chown(upper, 0, 0) == 0 && chmod(upper, base.st_mode & 07777) == 0;
  /* What the container's root shows of the sandbox itself is nothing for the payload. */
  if (made && number == 0 && settings->contained) made = hide_home(upper);
  if (!made) note("cannot make layer %x: %s", number, strerror(errno));
  free(folder);
  free(upper);
  free(work);
  return made;
}

/* The machine's own name resolves without a resolver; in the layer and not a mount, so that it stays a plain file. */
static void add_host_name(void) {
  int fd = open("/etc/hosts", O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0644);
  struct stat info;
  if (fd < 0 || fstat(fd, &info) || !S_ISREG(info.st_mode)) return note("no /etc/hosts: %s", strerror(errno));
  char *lines = text("%s127.0.1.1\t%s\n", info.st_size ? "" : "127.0.0.1\tlocalhost\n::1\tlocalhost\n", settings->hostname);
  write_all(fd, lines, strlen(lines));
  if (fchown(fd, 0, 0)) note("chown /etc/hosts: %s", strerror(errno));
  free(lines);
  close(fd);
}

static _Noreturn void hold_root(const char *lower, const char *layer, bool first, int made, int seen) {
  leave_control();
  failure_socket = FAILURE_STDERR;
  if (unshare(CLONE_NEWNS)) fail("cannot make a mount namespace: %s", strerror(errno));
  root_enter(settings, lower, layer);
  if (first) add_host_name();
  write_all(made, "m", 1);
  pipe_wait(seen);
  _exit(0);
}

static int make_namespace(const char *lower, unsigned number) {
  int made[2], opened[2], result = -1;
  if (pipe2(made, O_CLOEXEC)) return -1;
  if (pipe2(opened, O_CLOEXEC)) {
    close(made[0]);
    close(made[1]);
    return -1;
  }
  char *layer = text("v/%x", number);
  pid_t pid = fork();
  if (pid == 0) {
    close(opened[1]);
    hold_root(lower, layer, number == 0, made[1], opened[0]);
  }
  close(made[1]);
  close(opened[0]);
  if (pid > 0 && pipe_wait(made[0]) == 0) {
    char *path = text("/p/%d/ns/mnt", pid);
    result = open(path, O_RDONLY | O_CLOEXEC);
    free(path);
  }
  close(opened[1]);
  close(made[0]);
  if (pid > 0) waitpid(pid, NULL, 0);
  free(layer);
  return result;
}

int mount_layer(const char *lower, unsigned number) { return make_folders(number) ? make_namespace(lower, number) : -1; }
