/*
 * The command's output: pipes that the supervisor empties into files. Not the files themselves: the command could cut
 * them (`> /dev/stderr` does), and a flood would reach the disk before the limit is noticed.
 */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
  int reader, writer, file;
  unsigned long long written;
  bool over;
} streams[2];

void output_open(int folder) {
  static const char *const names[] = {"stdout", "stderr"};
  for (int i = 0; i < 2; i++) {
    int ends[2];
    streams[i].file = openat(folder, names[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (streams[i].file < 0 || pipe2(ends, O_CLOEXEC)) _exit(1);
    streams[i].reader = ends[0];
    streams[i].writer = ends[1];
    /* The command may open /dev/stdout by name, whatever user it has become. */
    if (fchmod(ends[1], 0666)) _exit(1);
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK)) _exit(1);
  }
}

int output_writer(int stream) { return streams[stream].writer; }
int output_reader(int stream) { return streams[stream].reader; }

void output_close_writers(void) {
  for (int i = 0; i < 2; i++) close(streams[i].writer);
}

static void keep(int stream, const char *data, size_t size, unsigned long long limit) {
  unsigned long long room = limit - streams[stream].written;
  if (size > room) {
    streams[stream].over = true;
    size = (size_t)room;
  }
  if (size == 0) return;
  if (!write_all(streams[stream].file, data, size)) note("cannot keep a command's output");
  streams[stream].written += size;
}

/* Takes what is there, without waiting; beyond the limit it is dropped. */
void output_drain(unsigned long long limit) {
  static char data[1 << 16];
  for (int i = 0; i < 2; i++) {
    /* Bounded, so that a flood does not keep the supervisor from its other duties. */
    for (int rounds = 0; rounds < 16 && streams[i].reader >= 0; rounds++) {
      ssize_t got = read(streams[i].reader, data, sizeof data);
      if (got > 0) keep(i, data, (size_t)got, limit);
      if (got < 0 && errno == EINTR) continue;
      if (got == 0) {
        /* Nobody holds the other end; poll would wake up for ever. */
        close(streams[i].reader);
        streams[i].reader = -1;
      }
      if (got <= 0) break;
    }
  }
}

/* Whether a stream had more than its limit. */
bool output_over(void) { return streams[0].over || streams[1].over; }
