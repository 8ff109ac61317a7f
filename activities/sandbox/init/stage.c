/*
 * The stage is init's own root: the base (b), the volume (v), the control folder (c), proc (p), sys (s), dev (d), the
 * shared /run (r), the given read-only mounts (m), and a place for new roots (n). Nothing else of the host is there.
 */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void must_mount(const char *source, const char *target, const char *type, unsigned long flags, const char *data) {
  if (mount(source, target, type, flags, data)) fail("cannot mount %s at %s: %s", source ? source : "(new flags)", target, strerror(errno));
}

static void bind(const char *source, const char *target, unsigned long flags) {
  must_mount(source, target, NULL, MS_BIND, NULL);
  if (flags) must_mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | flags, NULL);
}

static void must_mkdir(const char *path, mode_t mode) {
  if (mkdir(path, mode) && errno != EEXIST) fail("cannot make %s: %s", path, strerror(errno));
  chmod(path, mode);
}

/* A container's own, which the engine rewrites when its networks change. */
static void bind_resolver(void) {
  if (replace_file(AT_FDCWD, "stage/resolv.conf", "")) fail("cannot write resolv.conf: %s", strerror(errno));
  if (access("/etc/resolv.conf", F_OK) == 0) bind("/etc/resolv.conf", "stage/resolv.conf", 0);
}

/*
 * Makes the present folder, a mount of its own, the root. Container engines' filters forbid pivot_root: moved over "/" it
 * is the root all the same (for setns and user namespaces too), and what lies below it cannot be reached any more.
 */
static void change_root(const char *what) {
  bool pivoted = syscall(SYS_pivot_root, ".", ".") == 0;
  if (pivoted ? umount2(".", MNT_DETACH) : errno != EPERM || mount(".", "/", NULL, MS_MOVE, NULL) || chroot("."))
    fail("cannot enter the %s: %s", what, strerror(errno));
  if (chdir("/")) fail("cannot enter the %s: %s", what, strerror(errno));
}

/*
 * By whom may walk through the folders above: the keeper when it is root (init has no rights over other users' folders
 * any more), else init while it still has the user's id.
 */
void stage_binds(const struct config *config) {
  bind(config->base, "stage/b", 0);
  bind("vol", "stage/v", 0);
  bind("ctl", "stage/c", 0);
  for (int i = 0; i < config->mount_count; i++) {
    char *target = text("stage/m/%d", i);
    bind(config->mounts[i].source, target, MS_RDONLY | MS_NOSUID | MS_NODEV);
    free(target);
  }
  if (config->contained) bind_resolver();
}

static void make_dev(const struct config *config) {
  static const char *const nodes[] = {"null", "zero", "full", "random", "urandom", "tty"};
  static const char *const links[][2] = {{"/proc/self/fd", "fd"}, {"/proc/self/fd/0", "stdin"}, {"/proc/self/fd/1", "stdout"},
                                         {"/proc/self/fd/2", "stderr"}, {"pts/ptmx", "ptmx"}};
  must_mount("dev", "d", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=755,size=1m");
  for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
    char *source = text("/dev/%s", nodes[i]), *target = text("d/%s", nodes[i]);
    if (mknod(target, S_IFREG | 0666, 0)) fail("cannot make %s: %s", target, strerror(errno));
    bind(source, target, 0);
    free(source);
    free(target);
  }
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    char *path = text("d/%s", links[i][1]);
    if (symlink(links[i][0], path)) fail("cannot make %s: %s", path, strerror(errno));
    free(path);
  }
  must_mkdir("d/pts", 0755);
  must_mkdir("d/shm", 01777);
  if (chown("d", 0, 0)) fail("chown: %s", strerror(errno));
  must_mount("devpts", "d/pts", "devpts", MS_NOSUID | MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620,gid=5");
  char *shared = text("mode=1777,uid=0,gid=0,size=%llu", config->memory);
  must_mount("shm", "d/shm", "tmpfs", MS_NOSUID | MS_NODEV, shared);
  free(shared);
}

/* One /run for all roots, so that the sockets of services are the same in every frame and fork. */
static void make_run(void) {
  must_mkdir("v/run", 0755);
  must_mkdir("v/run/d", 0755);
  must_mkdir("v/run/w", 0755);
  if (chown("v/run/d", 0, 0)) fail("chown: %s", strerror(errno));
  char *lower = access("b/run", F_OK) ? "b" : "b/run";
  char *options = text("lowerdir=%s,upperdir=v/run/d,workdir=v/run/w,userxattr,volatile", lower);
  must_mount("run", "r", "overlay", MS_NOSUID | MS_NODEV, options);
  free(options);
}

static void mount_sys(void) {
  if (mount("sysfs", "s", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, NULL) == 0) return;
  /* Not for who does not own the network; the container has been given one. */
  must_mount("/sys", "s", NULL, MS_BIND | MS_REC, NULL);
}

void stage_enter(const struct config *config) {
  must_mount("stage", "stage", NULL, MS_BIND | MS_REC, NULL);
  if (chdir("stage")) fail("cannot enter the stage: %s", strerror(errno));
  if (mount("proc", "p", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
    fail("cannot mount proc: %s%s", strerror(errno), config->contained ? " (remedy: in a user namespace the container's own /proc must not be masked; Kubernetes: procMount: Unmasked)" : "");
  mount_sys();
  make_dev(config);
  change_root("stage");
  make_run();
}

/* What engines hide or make read-only, since root's files there are the payload's own where its root is the host's. */
static void mask_kernel(void) {
  static const char *const sealed[] = {"p/bus", "p/fs", "p/irq", "p/sysrq-trigger"};
  static const char *const hidden[] = {"p/acpi", "p/asound", "p/kcore", "p/keys", "p/interrupts", "p/latency_stats", "p/sched_debug", "p/scsi",
                                       "p/timer_list", "p/timer_stats", "s/firmware", "s/devices/virtual/powercap"};
  for (size_t i = 0; i < sizeof sealed / sizeof *sealed; i++)
    if (access(sealed[i], F_OK) == 0) bind(sealed[i], sealed[i], MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC);
  for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) {
    struct stat info;
    if (stat(hidden[i], &info)) continue;
    if (S_ISDIR(info.st_mode)) must_mount("none", hidden[i], "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=4k");
    else bind("d/null", hidden[i], MS_RDONLY | MS_NOSUID | MS_NOEXEC);
  }
}

/* Makes read-only what the payload shares; after the settings below /proc/sys are made. */
void stage_seal(const struct config *config) {
  bind("p/sys", "p/sys", MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC);
  if (config->contained) mask_kernel();
  must_mount(NULL, "d", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC, NULL);
}

static int tree(const char *path) {
  int fd = (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (fd < 0) fail("cannot copy the mount %s: %s", path, strerror(errno));
  return fd;
}

/* Makes the target if missing (and its parents), following links inside the root only: the caller has pivoted. */
static void make_target(const char *target, bool directory) {
  char *path = text("%s", target);
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    if (mkdir(path, 0755) == 0 && chown(path, 0, 0)) note("chown %s: %s", path, strerror(errno));
    *slash = '/';
  }
  if (directory) mkdir(path, 0755);
  else close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
  free(path);
}

static void attach(int mount_tree, const char *target, bool directory) {
  make_target(target, directory);
  if (syscall(SYS_move_mount, mount_tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_SYMLINKS))
    fail("cannot mount at %s: %s", target, strerror(errno));
  close(mount_tree);
}

void root_enter(const struct config *config, const char *lower, const char *layer) {
  char *options = text("lowerdir=%s,upperdir=%s/d,workdir=%s/w,userxattr,volatile", lower, layer, layer);
  must_mount("root", "n", "overlay", 0, options);
  free(options);
  int proc = tree("p"), sys = tree("s"), dev = tree("d"), run = tree("r"), resolver = tree("resolv.conf");
  int mounts[MAX_MOUNTS];
  for (int i = 0; i < config->mount_count; i++) {
    char *path = text("m/%d", i);
    mounts[i] = tree(path);
    free(path);
  }
  if (chdir("n")) fail("cannot enter the root: %s", strerror(errno));
  change_root("root");
  attach(proc, "/proc", true);
  attach(sys, "/sys", true);
  attach(dev, "/dev", true);
  attach(run, "/run", true);
  attach(resolver, "/etc/resolv.conf", false);
  for (int i = 0; i < config->mount_count; i++) attach(mounts[i], config->mounts[i].target, config->mounts[i].directory);
}
