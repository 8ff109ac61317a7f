/*
 * A store of files by their sha256 on the network of containers, so that what many sandboxes of a node need crosses the
 * engine once: `serve` is PID 1 of the store's container, `keep` a call that puts a file in, and `relay` runs a call
 * whose input comes from a store. The digest is all the right that a reader needs: who knows it knows the file.
 */
#include "call.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define DIGEST_SIZE 64
#define PATIENCE_SECONDS 30
#define CONNECT_MILLISECONDS 5000
#define MAX_READERS 64

static bool is_digest(const char *name) { return strlen(name) == DIGEST_SIZE && strspn(name, "0123456789abcdef") == DIGEST_SIZE; }

static void set_patience(int fd) {
  struct timeval patience = {.tv_sec = PATIENCE_SECONDS};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

/* Reads `<digest>\n` and answers with the frame of that file, or with nothing. */
static _Noreturn void answer(int connection) {
  char name[DIGEST_SIZE + 2] = "";
  set_patience(connection);
  for (size_t used = 0; used <= DIGEST_SIZE;) {
    ssize_t got = read(connection, name + used, DIGEST_SIZE + 1 - used);
    if (got <= 0) _exit(1);
    used += (size_t)got;
  }
  if (name[DIGEST_SIZE] != '\n') _exit(1);
  name[DIGEST_SIZE] = 0;
  struct stat info;
  int file = is_digest(name) ? open(name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC) : -1;
  if (file < 0 || fstat(file, &info)) _exit(1);
  char *head = text("in %lld %s\n", (long long)info.st_size, name);
  if (!write_all(connection, head, strlen(head))) _exit(1);
  for (off_t at = 0; at < info.st_size;)
    if (sendfile(connection, file, &at, (size_t)(info.st_size - at)) <= 0) _exit(1);
  _exit(0);
}

static void end(int signal) {
  (void)signal;
  _exit(0);
}

int store_serve(const char *port, const char *folder) {
  int readers = 0, yes = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  failure_socket = FAILURE_STDERR;
  signal(SIGTERM, end);
  signal(SIGPIPE, SIG_IGN);
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (chdir(folder)) fail("%s: %s", folder, strerror(errno));
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 128)) fail("cannot listen on port %s: %s", port, strerror(errno));
  for (;;) {
    while (waitpid(-1, NULL, readers < MAX_READERS ? WNOHANG : 0) > 0) readers -= readers > 0;
    struct pollfd wait = {.fd = listener, .events = POLLIN};
    if (poll(&wait, 1, 1000) <= 0) continue;
    int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    if (connection < 0) continue;
    pid_t pid = fork();
    if (pid == 0) answer(connection);
    readers += pid > 0;
    close(connection);
  }
}

/* Answers at once for a file that is there. */
_Noreturn void call_keep(const char *folder, const char *digest) {
  int store = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (store < 0 || !is_digest(digest)) reply_text("refused", "no store in %s, or no digest", folder);
  if (faccessat(store, digest, F_OK, 0) == 0) reply_text("ok", "%s", "");
  char *draft = text(".%s.%d", digest, getpid());
  int fd = openat(store, draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) reply_text("failed", "cannot keep a file: %s", strerror(errno));
  const char *found = input_into(fd, store, draft);
  if (strcmp(found, digest)) {
    unlinkat(store, draft, 0);
    reply_text("refused", "the input is of another digest");
  }
  if (renameat(store, draft, store, digest)) reply_text("failed", "cannot keep a file: %s", strerror(errno));
  reply_text("ok", "%s", "");
}

static bool connect_within(int fd, const struct sockaddr_in *address, int milliseconds) {
  int error = 0;
  socklen_t size = sizeof error;
  fcntl(fd, F_SETFL, O_NONBLOCK);
  if (connect(fd, (const struct sockaddr *)address, sizeof *address) && errno != EINPROGRESS) return false;
  struct pollfd wait = {.fd = fd, .events = POLLOUT};
  if (poll(&wait, 1, milliseconds) != 1 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size)) return false;
  errno = error;
  fcntl(fd, F_SETFL, 0);
  return error == 0;
}

int relay(const char *host, const char *port, const char *digest, int argc, char **argv) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || inet_pton(AF_INET, host, &address.sin_addr) != 1 || !is_digest(digest)) reply_text("refused", "no address or no digest");
  if (!connect_within(fd, &address, CONNECT_MILLISECONDS)) reply_text("failed", "the store at %s can't be reached: %s", host, strerror(errno));
  char *line = text("%s\n", digest);
  if (!write_all(fd, line, strlen(line)) || dup2(fd, 0) < 0) reply_text("failed", "the store at %s does not answer", host);
  close(fd);
  return call(argc, argv);
}
