/* One short request to the sandbox, started in its container by the engine; ../contained/layout.ts lists them. */
#include "call.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define STOP_SECONDS 20
/* A file up to here is answered at once; a larger one is kept to be read in parts. */
#define INLINE_BYTES (4ULL << 20)

static int reach(const char *path) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address)) reply_text("failed", "nobody answers at %s: %s", path, strerror(errno));
  return fd;
}

static char *receive(int fd, size_t *size) {
  size_t room = 4096, used = 0;
  char *data = malloc(room);
  for (;;) {
    if (!data) reply_text("failed", "no memory");
    still_alive();
    ssize_t got = read(fd, data + used, room - used - 1);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    used += (size_t)got;
    if (room - used < 2) data = realloc(data, room *= 2);
  }
  close(fd);
  data[used] = 0;
  if (used == 0) reply_text("failed", "no answer");
  *size = used;
  return data;
}

static int request(char *const words[]) {
  int fd = reach(CONTAINER_VOLUME "/ctl/ctl.sock");
  for (int i = 0; words[i]; i++) {
    if (strpbrk(words[i], "\t\n")) reply_text("refused", "a tab or line break in a word");
    if ((i && !write_all(fd, "\t", 1)) || !write_all(fd, words[i], strlen(words[i]))) reply_text("failed", "no answer");
  }
  if (!write_all(fd, "\n", 1)) reply_text("failed", "no answer");
  return fd;
}

char *ask(char *const words[], size_t *size) {
  size_t got;
  return receive(request(words), size ? size : &got);
}

static _Noreturn void ask_keeper(const char *word, const char *body, size_t size) {
  int fd = reach(CONTAINER_VOLUME "/keeper.sock");
  char *head = text("%s %zu\n", word, size);
  if (!write_all(fd, head, strlen(head)) || !write_all(fd, body, size)) reply_text("failed", "PID 1 does not listen");
  char *answer = receive(fd, &size);
  answer[strcspn(answer, "\n")] = 0;
  bool good = !strcmp(answer, "ok");
  reply_text(good ? "ok" : "refused", "%s", good ? "" : strncmp(answer, "failed ", 7) ? answer : answer + 7);
}

void refuse_elsewhere(const char *answer) {
  static const char other[] = "error elsewhere ";
  if (strncmp(answer, other, sizeof other - 1)) return;
  answer += strlen("error ");
  reply_text("refused", "%.*s", (int)strcspn(answer, "\n"), answer);
}

static void stop(const char *name) {
  char *stop_words[] = {"stop", (char *)name, NULL}, *alive_words[] = {"alive", (char *)name, NULL};
  char *answer = ask(stop_words, NULL);
  double end = now() + STOP_SECONDS;
  for (useconds_t wait = 5000; !strncmp(answer, "ok", 2); wait = wait < 100000 ? wait * 2 : wait) {
    if (now() > end) reply_text("ok", "alive");
    usleep(wait);
    free(answer);
    answer = ask(alive_words, NULL);
  }
  refuse_elsewhere(answer);
  reply_text("ok", "gone");
}

/* Keeps what comes as the output of a command of that name. */
static _Noreturn void keep_file(int fd, const char *name, unsigned long long size) {
  static char data[1 << 16];
  int folder = exec_folder_of(name);
  char *draft = text("stdout.%d.tmp", getpid());
  int file = openat(folder, draft, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) reply_text("failed", "cannot keep the file: %s", strerror(errno));
  unsigned long long left = size;
  for (ssize_t got; left > 0 && (got = read(fd, data, sizeof data)) > 0; left -= (unsigned long long)got) {
    still_alive();
    if (!write_all(file, data, (size_t)got)) break;
  }
  if (left == 0 && renameat(folder, draft, folder, "stdout") == 0) reply_text("ok", "kept %llu\n", size);
  unlinkat(folder, draft, 0);
  reply_text("refused", "the file changed while it was read, or there is no space to keep it");
}

static _Noreturn void file(char **words) {
  char *asked[] = {"file", words[2], words[3], words[4], NULL};
  int fd = request(asked);
  char line[4300];
  size_t used = 0;
  while (used < sizeof line - 1 && read(fd, line + used, 1) == 1 && line[used++] != '\n') continue;
  line[used] = 0;
  unsigned long long size;
  if (sscanf(line, "ok %llu", &size) != 1) reply(used ? "ok" : "failed", line, used);
  if (size > INLINE_BYTES) keep_file(fd, words[1], size);
  if (size == 0) reply("ok", line, used);
  size_t got;
  char *content = receive(fd, &got);
  if (got != size) reply_text("refused", "the file changed while it was read");
  char *body = malloc(used + got);
  if (!body) reply_text("failed", "no memory");
  memcpy(body, line, used);
  memcpy(body + used, content, got);
  reply("ok", body, used + got);
}

int call(int argc, char **argv) {
  const char *verb = argv[0];
  failure_socket = FAILURE_STDERR;
  signal(SIGPIPE, SIG_IGN);
  umask(022);
  still_alive();
  size_t size;
  static const char *const with_input[] = {"provide", "begin", "start", "upload", "keep"};
  for (size_t i = 0; i < sizeof with_input / sizeof *with_input; i++)
    if (!strcmp(verb, with_input[i])) input_expected();
  if (argc == 1 && !strcmp(verb, "ping")) ask_keeper("ping", "", 0);
  if (argc == 1 && !strcmp(verb, "provide")) call_provide();
  if (argc == 1 && !strcmp(verb, "begin")) {
    char *input = input_whole(&size);
    ask_keeper("begin", input, size);
  }
  if (argc > 1 && !strcmp(verb, "ask")) {
    char *answer = ask(argv + 1, &size);
    reply("ok", answer, size);
  }
  if (argc == 2 && !strcmp(verb, "stop")) stop(argv[1]);
  if (argc == 5 && !strcmp(verb, "file")) file(argv);
  if (argc == 3 && !strcmp(verb, "start")) call_start(argv[1], argv[2]);
  if (argc == 3 && !strcmp(verb, "poll")) call_poll(argv[1], strtod(argv[2], NULL) / 1000);
  if (argc == 2 && !strcmp(verb, "upload")) call_upload(argv[1]);
  if (argc == 5 && !strcmp(verb, "read")) call_read(argv[1], argv[2], argv[3], argv[4]);
  if (argc == 3 && !strcmp(verb, "keep")) call_keep(argv[1], argv[2]);
  if (argc == 2 && !strcmp(verb, "forget")) call_forget(argv[1]);
  reply_text("refused", "unknown call %s with %d words", verb, argc - 1);
}
