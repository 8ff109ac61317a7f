#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

int failure_socket = -1;

void note(const char *format, ...) {
  char line[2048];
  va_list args;
  va_start(args, format);
  int size = vsnprintf(line, sizeof line - 1, format, args);
  va_end(args);
  if (size > (int)sizeof line - 2) size = sizeof line - 2;
  line[size] = '\n';
  write_all(2, line, (size_t)size + 1);
}

_Noreturn void fail(const char *format, ...) {
  char line[2048];
  va_list args;
  va_start(args, format);
  vsnprintf(line, sizeof line, format, args);
  va_end(args);
  note("%s", line);
  if (failure_socket == FAILURE_STDERR) _exit(1);
  if (failure_socket >= 0) {
    char message[2100];
    snprintf(message, sizeof message, "failed %s", line);
    send(failure_socket, message, strlen(message), MSG_NOSIGNAL);
  } else {
    replace_file(AT_FDCWD, "failed", line);
  }
  _exit(1);
}

char *text(const char *format, ...) {
  char *result;
  va_list args;
  va_start(args, format);
  if (vasprintf(&result, format, args) < 0) _exit(1);
  va_end(args);
  return result;
}

bool write_all(int fd, const void *data, size_t size) {
  const char *at = data;
  while (size > 0) {
    ssize_t done = write(fd, at, size);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    at += done;
    size -= (size_t)done;
  }
  return true;
}

int write_file(const char *path, const char *content) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return -1;
  ssize_t done = write(fd, content, strlen(content));
  int error = errno;
  close(fd);
  errno = error;
  return done == (ssize_t)strlen(content) ? 0 : -1;
}

int replace_file(int folder, const char *name, const char *content) {
  char temporary[NAME_SIZE + 8];
  snprintf(temporary, sizeof temporary, "%s.tmp", name);
  int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) return -1;
  bool written = write_all(fd, content, strlen(content));
  close(fd);
  return written ? renameat(folder, temporary, folder, name) : -1;
}

char *read_file(int folder, const char *name, size_t *size) {
  int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NULL;
  size_t room = 4096, used = 0;
  char *data = malloc(room);
  for (;;) {
    if (!data) _exit(1);
    ssize_t done = read(fd, data + used, room - used - 1);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) break;
    used += (size_t)done;
    if (room - used < 2) data = realloc(data, room *= 2);
  }
  close(fd);
  data[used] = 0;
  if (size) *size = used;
  return data;
}

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_BOOTTIME, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void set_mount(struct config *config, char *value) {
  char *target = strchr(value, '\t');
  if (!target || config->mount_count == MAX_MOUNTS) fail("config: at most %d mounts, source<TAB>target", MAX_MOUNTS);
  *target++ = 0;
  struct stat info;
  if (stat(value, &info)) fail("mount source %s: %s", value, strerror(errno));
  config->mounts[config->mount_count++] = (struct bind_mount){value, target, S_ISDIR(info.st_mode)};
}

static void set_value(struct config *config, const char *key, char *value) {
  const struct { const char *key; unsigned long long *number; char **string; bool *flag; } known[] = {
      {"id", NULL, &config->id, NULL},
      {"base", NULL, &config->base, NULL},
      {"hostname", NULL, &config->hostname, NULL},
      {"memory", &config->memory, NULL, NULL},
      {"disk", &config->disk, NULL, NULL},
      {"processes", &config->processes, NULL, NULL},
      {"deadline", &config->deadline, NULL, NULL},
      {"id_base", &config->id_base, NULL, NULL},
      {"group_base", &config->group_base, NULL, NULL},
      {"network", NULL, NULL, &config->network},
      {"volume", NULL, NULL, &config->volume},
      {"layers", NULL, NULL, &config->layers},
      {"own_users", NULL, NULL, &config->own_users},
      {"network_inside", NULL, NULL, &config->network_inside},
      {"root", NULL, &config->root, NULL},
      {"began", &config->began, NULL, NULL},
  };
  if (!strcmp(key, "mount")) return set_mount(config, value);
  if (!strcmp(key, "unreachable")) {
    if (config->unreachable_count == MAX_UNREACHABLE) fail("config: at most %d unreachable networks", MAX_UNREACHABLE);
    config->unreachable[config->unreachable_count++] = value;
    return;
  }
  if (!strcmp(key, "cpus")) {
    config->cpus = strtod(value, NULL);
    return;
  }
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (strcmp(key, known[i].key)) continue;
    if (known[i].string) *known[i].string = value;
    if (known[i].number) *known[i].number = strtoull(value, NULL, 10);
    if (known[i].flag) *known[i].flag = !strcmp(value, "1");
    return;
  }
  fail("config: unknown key %s", key);
}

void load_config(struct config *config) {
  memset(config, 0, sizeof *config);
  config->layers = true;
  char *at = read_file(AT_FDCWD, "config", NULL);
  if (!at) fail("cannot read the sandbox's config: %s", strerror(errno));
  for (char *line; (line = strsep(&at, "\n"));) {
    if (!*line) continue;
    char *value = strchr(line, '\t');
    if (!value) fail("config: no tab in line %s", line);
    *value++ = 0;
    set_value(config, line, value);
  }
  if (!config->id || !config->base || !config->hostname) fail("config: id, base and hostname are needed");
}

unsigned long long start_time(pid_t pid) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  char *stat = read_file(AT_FDCWD, path, NULL);
  if (!stat) return 0;
  unsigned long long result = 0;
  char *at = strrchr(stat, ')');
  for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
  if (at) result = strtoull(at + 1, NULL, 10);
  free(stat);
  return result;
}

void hide_arguments(char **argv, const char *name) {
  for (int i = 0; argv[i]; i++) memset(argv[i], 0, strlen(argv[i]));
  prctl(PR_SET_NAME, name);
}
