/* Watches over one command: time and output limits, the end of its whole process tree, and the exit file. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_SECONDS 10

/* RUNNING until the command ends by itself; LINGERING while daemons that it left behind live on. */
static enum { RUNNING, ENDING, KILLING, LINGERING } state = RUNNING;
static const char *end = "exited";
static struct request request;
static int folder, status;
static pid_t command;
static double started, ended, killing_from;
static unsigned long long oom_before;

static void read_request(void) {
  size_t size;
  char *limits = read_file(folder, "limits", NULL), *cwd = read_file(folder, "cwd", NULL);
  char *environment = read_file(folder, "environment", &size);
  request.command = read_file(folder, "command", NULL);
  if (!limits || !cwd || !environment || !request.command) _exit(1);
  if (sscanf(limits, "%lf %llu", &request.seconds, &request.output) != 2) _exit(1);
  /* 0: as much as the sandbox's disk holds. */
  if (request.output == 0) request.output = settings->disk;
  request.cwd = cwd;
  size_t count = 0;
  for (size_t i = 0; i < size; i++) count += environment[i] == 0;
  request.environment = calloc(count + 1, sizeof(char *));
  if (!request.environment) _exit(1);
  char *at = environment;
  for (size_t i = 0; i < count; i++, at += strlen(at) + 1) request.environment[i] = at;
}

static int open_input(void) {
  int fd = openat(folder, "stdin", O_RDONLY | O_CLOEXEC);
  if (fd < 0) fd = open(settings->layers ? "/d/null" : "/dev/null", O_RDONLY | O_CLOEXEC);
  if (fd < 0) _exit(1);
  return fd;
}

static void write_exit(void) {
  bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (!strcmp(end, "exited") && (killed || code == 137) && oom_kills() > oom_before) end = "oom";
  char line[256];
  if (!strcmp(end, "exited")) snprintf(line, sizeof line, "{\"end\":\"exited\",\"exit\":%d,\"seconds\":%.3f}", code, ended - started);
  else snprintf(line, sizeof line, "{\"end\":\"%s\",\"exit\":null,\"seconds\":%.3f}", end, now() - started);
  if (replace_file(folder, "exit", line)) note("cannot write an exit file: %s", strerror(errno));
}

static void begin_ending(const char *why, bool at_once) {
  if (state == KILLING || (state == ENDING && !at_once)) return;
  if (state == RUNNING) end = why;
  killing_from = now() + (at_once ? 0 : GRACE_SECONDS);
  if (!at_once) signal_descendants(getpid(), SIGTERM);
  state = at_once ? KILLING : ENDING;
}

/* True while any process of the command lives. */
static bool reap_tree(void) {
  pid_t pid;
  int result;
  while ((pid = waitpid(-1, &result, WNOHANG)) > 0) {
    if (pid != command) continue;
    status = result;
    ended = now();
    if (state != RUNNING) continue;
    output_drain(request.output);
    write_exit();
    state = LINGERING;
  }
  return pid == 0;
}

static void check_limits(void) {
  if (state == RUNNING && output_over()) begin_ending("output", true);
  if (state == RUNNING && now() - started > request.seconds) begin_ending("timeout", false);
  if (state == ENDING && now() > killing_from) state = KILLING;
  if (state == KILLING) kill_descendants(getpid());
}

static void take_signals(int signals) {
  struct signalfd_siginfo signal;
  while (read(signals, &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGTERM) begin_ending("stopped", false);
    if (signal.ssi_signo == SIGUSR1) begin_ending("stopped", true);
  }
}

static int pause_milliseconds(void) {
  if (state == KILLING) return 10;
  double left = request.seconds - (now() - started);
  if (state == RUNNING && left < 0.1) return left > 0 ? (int)(left * 1000) + 1 : 1;
  return state == LINGERING ? 2000 : 500;
}

_Noreturn void supervise(int command_folder, int namespace) {
  folder = command_folder;
  leave_control();
  prctl(PR_SET_NAME, "supervisor");
  if (prctl(PR_SET_CHILD_SUBREAPER, 1)) _exit(1);
  sigset_t mask;
  sigfillset(&mask);
  int signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) _exit(1);
  read_request();
  output_open(folder);
  int in = open_input();
  oom_before = oom_kills();
  started = now();
  command = fork();
  if (command < 0) _exit(1);
  if (command == 0) payload(&request, namespace, folder, in, output_writer(0), output_writer(1));
  close(in);
  output_close_writers();
  while (reap_tree()) {
    check_limits();
    struct pollfd wait[] = {{.fd = signals, .events = POLLIN}, {.fd = output_reader(0), .events = POLLIN}, {.fd = output_reader(1), .events = POLLIN}};
    poll(wait, 3, pause_milliseconds());
    output_drain(request.output);
    take_signals(signals);
  }
  output_drain(request.output);
  if (state == ENDING || state == KILLING) write_exit();
  _exit(0);
}
