/*
 * The sandbox's disk: a sparse ext4 image on a loop device, mounted in the keeper's private mount namespace, so that
 * the kernel enforces the limit. Without a journal: nothing in it outlives the sandbox.
 */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define EXT4_IOC_SHUTDOWN _IOR('X', 125, __u32)
#define NO_LOG_FLUSH 2

static int volume_folder = -1;

/* In a container there are no nodes of loop devices. */
static int open_device(const char *path, unsigned major, unsigned minor, mode_t type) {
  int fd = open(path, O_RDWR | O_CLOEXEC);
  if (fd >= 0 || errno != ENOENT || mknod(path, type | 0600, makedev(major, minor))) return fd;
  return open(path, O_RDWR | O_CLOEXEC);
}

/* A free loop device over the image; it lets go of the image by itself at the last umount. */
static char *attach(int image) {
  int control = open_device("/dev/loop-control", 10, 237, S_IFCHR);
  if (control < 0) fail("no loop devices: /dev/loop-control: %s (remedy: modprobe loop)", strerror(errno));
  for (int tries = 0; tries < 200; tries++) {
    int number = ioctl(control, LOOP_CTL_GET_FREE);
    if (number < 0) fail("no free loop device: %s", strerror(errno));
    char *path = text("/dev/loop%d", number);
    int device = open_device(path, 7, (unsigned)number, S_IFBLK);
    struct loop_config setup = {.fd = (__u32)image, .info = {.lo_flags = LO_FLAGS_AUTOCLEAR}};
    if (device >= 0 && ioctl(device, LOOP_CONFIGURE, &setup) == 0) {
      close(control);
      /* `device` stays open until the mount holds the loop device. */
      return path;
    }
    if (device >= 0) close(device);
    if (errno != EBUSY && errno != EAGAIN && errno != ENOENT && errno != ENXIO) fail("cannot set up %s: %s", path, strerror(errno));
    free(path);
    usleep(5000);
  }
  fail("no free loop device after 200 tries");
}

void volume_mount(const struct config *config) {
  if (mkdir("vol", 0700) && errno != EEXIST) fail("cannot make vol: %s", strerror(errno));
  if (!config->volume) return;
  int image = open("disk.img", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (image < 0 || ftruncate(image, (off_t)config->disk)) fail("cannot make disk.img: %s", strerror(errno));
  format_disk(image, config->disk, config->id_base + payload_ids, config->group_base + payload_ids);
  char *device = attach(image);
  char *name = text("%s\n", device + strlen("/dev/"));
  if (replace_file(AT_FDCWD, "loop", name)) fail("cannot write loop: %s", strerror(errno));
  if (mount(device, "vol", "ext4", MS_NOATIME | MS_NODEV, "noinit_itable,discard")) fail("cannot mount %s: %s", device, strerror(errno));
  volume_folder = open("vol", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  close(image);
}

void volume_discard(void) {
  if (volume_folder < 0) return;
  __u32 how = NO_LOG_FLUSH;
  if (ioctl(volume_folder, EXT4_IOC_SHUTDOWN, &how)) note("cannot shut the volume down: %s", strerror(errno));
  close(volume_folder);
  if (umount2("vol", MNT_DETACH)) note("cannot unmount the volume: %s", strerror(errno));
  unlink("disk.img");
}

void volume_wait(void) {
  char *device = read_file(AT_FDCWD, "loop", NULL);
  if (!device) return;
  device[strcspn(device, "\n")] = 0;
  char folder[PATH_MAX];
  if (!getcwd(folder, sizeof folder)) return;
  char *ours = text("%s/disk.img", folder), *path = text("/sys/block/%s/loop/backing_file", device);
  for (int tries = 0; tries < 5000; tries++) {
    char *backing = read_file(AT_FDCWD, path, NULL);
    bool busy = backing && !strncmp(backing, ours, strlen(ours));
    free(backing);
    if (!busy) return;
    usleep(2000);
  }
  note("%s still holds disk.img", device);
}
