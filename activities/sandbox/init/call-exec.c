/* Calls about one command: its folder `ctl/exec/<name>` is written here, by its supervisor, and by nobody else. */
#include "call.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define COMMANDS CONTAINER_VOLUME "/ctl/exec"
#define MAX_PART (8ULL << 20)

static int open_commands(void) {
  int fd = open(COMMANDS, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) reply_text("failed", "the sandbox has not begun: %s", strerror(errno));
  return fd;
}

static void check_name(const char *name) {
  if (!*name || *name == '.' || strchr(name, '/') || strlen(name) >= NAME_SIZE) reply_text("refused", "no name of a command: %s", name);
}

int exec_folder_of(const char *name) {
  check_name(name);
  int commands = open_commands();
  if (mkdirat(commands, name, 0755) && errno != EEXIST) reply_text("failed", "cannot make the command's folder: %s", strerror(errno));
  int folder = openat(commands, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) reply_text("failed", "the command's folder: %s", strerror(errno));
  close(commands);
  return folder;
}

static int known_folder(const char *name) {
  check_name(name);
  int commands = open_commands(), folder = openat(commands, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) reply_text("refused", "there is no command %s", name);
  close(commands);
  return folder;
}

static void keep(int folder, const char *name, const char *content, size_t size) {
  char *draft = text("%s.%d.tmp", name, getpid());
  int fd = openat(folder, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0 || !write_all(fd, content, size) || renameat(folder, draft, folder, name))
    reply_text("failed", "cannot write %s: %s", name, strerror(errno));
  close(fd);
  free(draft);
}

/* Whether the block has a line for the variable of `line`. */
static bool overridden(const char *line, const char *block, size_t size) {
  size_t length = strcspn(line, "=") + 1;
  for (const char *at = block; at < block + size; at += strlen(at) + 1)
    if (!strncmp(at, line, length)) return true;
  return false;
}

/* The sandbox's environment under the command's own. */
static void keep_environment(int folder, const char *own, size_t size) {
  size_t common_size = 0, used = 0;
  char *common = read_file(AT_FDCWD, CONTAINER_VOLUME "/environment", &common_size);
  char *merged = malloc(common_size + size + 1);
  if (!merged) reply_text("failed", "no memory");
  for (char *at = common; at && at < common + common_size; at += strlen(at) + 1) {
    if (overridden(at, own, size)) continue;
    memcpy(merged + used, at, strlen(at) + 1);
    used += strlen(at) + 1;
  }
  memcpy(merged + used, own, size);
  keep(folder, "environment", merged, used + size);
}

/* The input: sections `<name> <bytes>\n` and the bytes. */
static void keep_sections(int folder, char *input, size_t size) {
  static const char *const known[] = {"command", "cwd", "limits"};
  for (char *at = input; at < input + size;) {
    char name[32];
    size_t length;
    char *content = strchr(at, '\n');
    if (!content || sscanf(at, "%31s %zu", name, &length) != 2 || length > (size_t)(input + size - ++content))
      reply_text("refused", "the command's input is not in sections");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
      if (!strcmp(name, known[i])) keep(folder, name, content, length);
    if (!strcmp(name, "environment")) keep_environment(folder, content, length);
    at = content + length;
  }
}

void call_start(const char *name, const char *root) {
  size_t size;
  char *input = input_whole(&size);
  int folder = exec_folder_of(name);
  /* A claimed command was started before: nothing of it changes any more. */
  if (faccessat(folder, "claim", F_OK, 0)) keep_sections(folder, input, size);
  char *words[] = {"exec", (char *)name, (char *)root, NULL}, *answer = ask(words, &size);
  if (!strncmp(answer, "ok", 2)) reply_text("ok", "%s", "");
  answer[strcspn(answer, "\n")] = 0;
  reply_text("refused", "%s", strncmp(answer, "error ", 6) ? answer : answer + 6);
}

static long long size_of(int folder, const char *name) {
  struct stat info;
  return fstatat(folder, name, &info, 0) ? 0 : (long long)info.st_size;
}

static void reply_ended(int folder) {
  size_t size;
  char *end = read_file(folder, "exit", &size);
  if (!end) return;
  /* `{…}` of the exit file, with the sizes. */
  end[size - 1] = 0;
  reply_text("ok", "{\"state\":\"ended\",%s,\"stdoutBytes\":%lld,\"stderrBytes\":%lld}", end + 1, size_of(folder, "stdout"), size_of(folder, "stderr"));
}

void call_poll(const char *name, double seconds) {
  int folder = known_folder(name);
  double end = now() + seconds;
  useconds_t wait = 2000;
  for (; now() < end && faccessat(folder, "exit", F_OK, 0); wait = wait < 50000 ? wait * 2 : wait) usleep(wait);
  reply_ended(folder);
  struct stat claim;
  if (fstatat(folder, "claim", &claim, 0)) reply_text("refused", "the command %s was never started", name);
  char *words[] = {"alive", (char *)name, NULL}, *answer = ask(words, NULL);
  /* Looked for again after init was asked: it may have ended in between. */
  reply_ended(folder);
  refuse_elsewhere(answer);
  bool alive = !strncmp(answer, "ok", 2);
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  double age = (double)(time.tv_sec - claim.st_mtim.tv_sec) + (double)(time.tv_nsec - claim.st_mtim.tv_nsec) / 1e9;
  reply_text("ok", "{\"state\":\"%s\",%s\"seconds\":%.3f,\"stdoutBytes\":%lld,\"stderrBytes\":%lld}", alive ? "running" : "ended",
             alive ? "" : "\"end\":\"lost\",\"exit\":null,", age > 0 ? age : 0, size_of(folder, "stdout"), size_of(folder, "stderr"));
}

void call_upload(const char *name) {
  int folder = exec_folder_of(name);
  char *draft = text("stdin.%d.tmp", getpid());
  int fd = openat(folder, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) reply_text("failed", "cannot keep the input: %s", strerror(errno));
  input_into(fd, folder, draft);
  if (renameat(folder, draft, folder, "stdin")) reply_text("failed", "cannot keep the input: %s", strerror(errno));
  reply_text("ok", "%s", "");
}

/* Answers `<size of the whole>\n` and the part. */
void call_read(const char *name, const char *stream, const char *offset, const char *length) {
  int folder = known_folder(name);
  if (strcmp(stream, "stdout") && strcmp(stream, "stderr")) reply_text("refused", "no stream %s", stream);
  unsigned long long from = strtoull(offset, NULL, 10), room = strtoull(length, NULL, 10), used = 0;
  int fd = openat(folder, stream, O_RDONLY | O_CLOEXEC);
  /* Its supervisor may not have come to open it yet. */
  if (fd < 0) reply_text("ok", "0\n");
  if (room > MAX_PART) room = MAX_PART;
  char *body = malloc(room + 32);
  if (!body) reply_text("failed", "no memory");
  int head = sprintf(body, "%lld\n", size_of(folder, stream));
  for (ssize_t got; used < room && (got = pread(fd, body + head + used, room - used, (off_t)(from + used))) > 0;) used += (unsigned long long)got;
  reply("ok", body, (size_t)head + used);
}

void call_forget(const char *name) {
  check_name(name);
  int commands = open_commands(), folder = openat(commands, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  DIR *list = folder < 0 ? NULL : fdopendir(folder);
  for (struct dirent *entry; list && (entry = readdir(list));)
    if (*entry->d_name != '.') unlinkat(folder, entry->d_name, 0);
  if (unlinkat(commands, name, AT_REMOVEDIR) && errno != ENOENT) reply_text("refused", "cannot forget %s: %s", name, strerror(errno));
  reply_text("ok", "%s", "");
}
