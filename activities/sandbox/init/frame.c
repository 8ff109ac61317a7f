/* Both sides of a call prove what they sent: `<word> <bytes> <sha256>` and the bytes. Streams of engines are cut silently. */
#include "call.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SILENCE_SECONDS 60
#define CHUNK (1 << 16)

/* What a call that ends early takes with it. */
static const char *unfinished;
static int unfinished_folder;

/* What is to come of this call's framed input, and whether its answer is out. */
static bool head_to_come, answered;
static size_t input_left;

void input_expected(void) { head_to_come = true; }

void still_alive(void) { alarm(SILENCE_SECONDS); }

static void put(const char *data, size_t size) {
  while (size > 0) {
    size_t part = size < CHUNK ? size : CHUNK;
    still_alive();
    if (!write_all(1, data, part)) _exit(1);
    data += part;
    size -= part;
  }
}

static void give_up(int signal) {
  (void)signal;
  if (unfinished) unlinkat(unfinished_folder, unfinished, 0);
  _exit(1);
}

static void leave_no_input(void);

static _Noreturn void incomplete(const char *what) {
  if (answered) exit(0);
  if (unfinished) unlinkat(unfinished_folder, unfinished, 0);
  reply_text("failed", "%s", what);
}

_Noreturn void reply(const char *status, const void *body, size_t size) {
  struct sha256 hash;
  char digest[65], head[128];
  sha256_begin(&hash);
  sha256_add(&hash, body, size);
  sha256_end(&hash, digest);
  int length = snprintf(head, sizeof head, "%s %zu %s\n", status, size, digest);
  put(head, (size_t)length);
  put(body, size);
  answered = true;
  leave_no_input();
  exit(0);
}

_Noreturn void reply_text(const char *status, const char *format, ...) {
  char body[4096];
  va_list args;
  va_start(args, format);
  int size = vsnprintf(body, sizeof body, format, args);
  va_end(args);
  reply(status, body, size < (int)sizeof body ? (size_t)size : sizeof body - 1);
}

static size_t get(char *data, size_t size) {
  ssize_t got;
  still_alive();
  while ((got = read(0, data, size)) < 0 && errno == EINTR) continue;
  if (got <= 0) {
    input_left = 0;
    incomplete("the input ended too early");
  }
  input_left -= input_left < (size_t)got ? input_left : (size_t)got;
  return (size_t)got;
}

static size_t input_head(char digest[65]) {
  char line[128];
  size_t used = 0, size;
  head_to_come = false;
  do {
    if (used == sizeof line - 1) incomplete("the input has no head");
    used += get(line + used, 1);
  } while (line[used - 1] != '\n');
  line[used] = 0;
  if (sscanf(line, "in %zu %64s", &size, digest) != 2) incomplete("the input has no head");
  return input_left = size;
}

/* A Kubernetes server never tells the end of a command that left some of a large input unread (measured, 1.34). */
static void leave_no_input(void) {
  static char rest[CHUNK];
  char digest[65];
  if (head_to_come) input_head(digest);
  while (input_left > 0) get(rest, input_left < sizeof rest ? input_left : sizeof rest);
}

static void check(struct sha256 *hash, const char *digest) {
  char found[65];
  sha256_end(hash, found);
  if (strcmp(found, digest)) incomplete("the input has another digest than was said");
}

char *input_whole(size_t *size) {
  char digest[65];
  struct sha256 hash;
  *size = input_head(digest);
  char *data = malloc(*size + 1);
  if (!data) reply_text("failed", "no memory for %zu bytes of input", *size);
  for (size_t used = 0; used < *size;) used += get(data + used, *size - used);
  sha256_begin(&hash);
  sha256_add(&hash, data, *size);
  check(&hash, digest);
  data[*size] = 0;
  return data;
}

const char *input_into(int fd, int folder, const char *draft) {
  static char data[CHUNK], digest[65];
  struct sha256 hash;
  unfinished_folder = folder;
  unfinished = draft;
  signal(SIGALRM, give_up);
  sha256_begin(&hash);
  for (size_t left = input_head(digest); left > 0;) {
    size_t got = get(data, left < sizeof data ? left : sizeof data);
    if (!write_all(fd, data, got)) incomplete("there is no space for the input");
    sha256_add(&hash, data, got);
    left -= got;
  }
  check(&hash, digest);
  unfinished = NULL;
  return digest;
}
