/* The control socket: one request line with tab-separated words per connection, one answer. Only the host can reach it. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#define MAX_WORDS 4
#define NO_LAYERS "this sandbox has no layers, since its container may not mount (snapshots: rebuild)"

int control_socket = -1;
/* The connection being served, so that no child keeps it open. */
static int serving = -1;
static bool network_on;

void leave_control(void) {
  close(control_socket);
  close(keeper_link);
  if (serving >= 0) close(serving);
}

void control_begin(void) {
  network_on = settings->network;
  control_socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "ctl.sock"};
  if (fchdir(control_folder)) fail("control folder: %s", strerror(errno));
  unlink("ctl.sock");
  if (control_socket < 0 || bind(control_socket, (struct sockaddr *)&address, sizeof address) || listen(control_socket, 64))
    fail("cannot open the control socket: %s", strerror(errno));
  /* The folder above is the user's alone. */
  chmod("ctl.sock", 0666);
  if (chdir("/")) fail("chdir: %s", strerror(errno));
}

static void answer(int connection, const char *problem) {
  char *line = problem ? text("error %s\n", problem) : text("ok\n");
  write_all(connection, line, strlen(line));
  free(line);
}

static bool read_line(int connection, char *line, size_t size) {
  size_t used = 0;
  while (used < size - 1) {
    ssize_t got = recv(connection, line + used, size - 1 - used, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    used += (size_t)got;
    if (line[used - 1] == '\n') {
      line[used - 1] = 0;
      return true;
    }
  }
  return false;
}

static const char *switch_network(const char *state) {
  static char message[512];
  int size = snprintf(message, sizeof message, "network %s", state);
  if (send(keeper_link, message, (size_t)size, MSG_NOSIGNAL) != size) return "the keeper is gone";
  struct pollfd wait = {.fd = keeper_link, .events = POLLIN};
  if (poll(&wait, 1, 15000) != 1) return "the keeper does not answer";
  ssize_t got = recv(keeper_link, message, sizeof message - 1, 0);
  if (got <= 0) return "the keeper is gone";
  message[got] = 0;
  if (strcmp(message, "ok")) return message;
  network_on = !strcmp(state, "on");
  return NULL;
}

/* What takes long is answered by a child, so that init stays free. */
static void serve_beside(int connection, char **words, int count) {
  pid_t pid = fork();
  if (pid < 0) answer(connection, "no process left");
  if (pid != 0) return;
  serving = -1;
  leave_control();
  /* A file may be large and its reader busy. */
  struct timeval patience = {.tv_sec = 60};
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  if (!strcmp(words[0], "usage")) serve_usage(connection);
  struct layer *layer = count == 4 ? root_layer(words[1]) : NULL;
  if (layer) serve_file(connection, layer, strtoull(words[2], NULL, 10), words[3]);
  else answer(connection, "no such root");
  _exit(0);
}

static void start(int connection, const char *name, const char *root) {
  struct layer *layer = root_layer(root);
  answer(connection, layer ? exec_start(name, layer) : "no such root");
}

/* `ok`, `error gone`, or `error elsewhere ROOT` of a command in another container of the sandbox. */
static void answer_known(int connection, const char *name, bool known) {
  static char problem[NAME_SIZE + 16];
  const char *root = known ? NULL : exec_elsewhere(name);
  if (root) snprintf(problem, sizeof problem, "elsewhere %s", root);
  answer(connection, known ? NULL : root ? problem : "gone");
}

/* What a container that takes this one's place, or stands beside it, goes on with. */
static void answer_state(int connection) {
  char *line = text("ok %s %lld\n", network_on ? "on" : "off", (long long)plain_since);
  write_all(connection, line, strlen(line));
  free(line);
}

static bool is_about_layers(const char *verb) {
  static const char *const verbs[] = {"push", "pop", "fork", "drop"};
  for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
    if (!strcmp(verb, verbs[i])) return true;
  return false;
}

static void dispatch(int connection, char **words, int count) {
  const char *verb = words[0], *first = words[1], *second = words[2];
  if (!strcmp(verb, "ping")) return answer(connection, NULL);
  if (!strcmp(verb, "usage") || !strcmp(verb, "file")) return serve_beside(connection, words, count);
  if (count == 2 && !strcmp(verb, "alive")) return answer_known(connection, first, exec_alive(first));
  if (count == 2 && !strcmp(verb, "stop")) return answer_known(connection, first, exec_signal(first, SIGTERM));
  if (!strcmp(verb, "end")) exec_end_all();
  if (!strcmp(verb, "end") || !strcmp(verb, "state")) return answer_state(connection);
  if (!settings->layers && is_about_layers(verb)) return answer(connection, NO_LAYERS);
  if (count == 2 && !strcmp(verb, "drop")) return answer(connection, root_drop(first));
  if (count == 2 && !strcmp(verb, "network")) return answer(connection, switch_network(first));
  if (count == 3 && !strcmp(verb, "exec")) return start(connection, first, second);
  if (count == 3 && !strcmp(verb, "push")) return answer(connection, root_push(first, second));
  if (count == 3 && !strcmp(verb, "pop")) return answer(connection, root_pop(first, second));
  if (count == 3 && !strcmp(verb, "fork")) return answer(connection, root_fork(first, second));
  answer(connection, "unknown request");
}

void control_serve(void) {
  int connection = accept4(control_socket, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0) return;
  serving = connection;
  struct timeval patience = {.tv_sec = 2};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  char line[PATH_MAX + 1024], *words[MAX_WORDS] = {"", "", "", ""}, *at = line;
  int count = 0;
  if (read_line(connection, line, sizeof line)) {
    while (at && count < MAX_WORDS) words[count++] = strsep(&at, "\t");
    dispatch(connection, words, count);
  }
  close(connection);
  serving = -1;
}
