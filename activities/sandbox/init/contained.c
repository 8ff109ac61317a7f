/*
 * PID 1 of a container: the keeper of the one sandbox in it. It begins when it is told to, so that a container may be
 * made ahead of need, and everything in the container ends with it.
 */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_BEGIN (16 << 20)
#define DISK_SECONDS 5
/* Told apart by drivers: ../contained/layout.ts. */
#define EXIT_DISK 28

static struct config config;
static pid_t init_pid;
static int listener = -1, signals = -1, init_link = -1;
static double deadline, next_measure;
static pid_t disk_watcher;
static int64_t began_at;

static void listen_for_calls(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "keeper.sock"};
  listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof address) || chmod("keeper.sock", 0600) || listen(listener, 64))
    fail("cannot listen in %s: %s", CONTAINER_VOLUME, strerror(errno));
}

/* A container with few ids has a user namespace: 65,536 ids are one too few for 65,536 of the payload and one of init. */
static void count_ids(void) {
  char *map = read_file(AT_FDCWD, "/proc/self/uid_map", NULL), *at = map;
  unsigned long long inside, outside, count, total = 0;
  for (char *line; at && (line = strsep(&at, "\n"));)
    if (sscanf(line, "%llu %llu %llu", &inside, &outside, &count) == 3 && inside == total) total += count;
  free(map);
  if (total < 1000) fail("the container has only %llu user ids", total);
  payload_ids = total > 65536 ? 65536 : (unsigned)total - 1;
}

static void start_init(int link[2]) {
  unsigned long namespaces = config.layers ? CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS : 0;
  init_pid = (pid_t)syscall(SYS_clone, namespaces | SIGCHLD, 0, 0, 0, 0);
  if (init_pid < 0) fail("cannot make the sandbox's namespaces: %s (the container needs CAP_SYS_ADMIN and a seccomp profile that allows clone)", strerror(errno));
  if (init_pid > 0) return;
  /* Who waits for the answer waits for the end of this connection. */
  close(failure_socket);
  failure_socket = link[1];
  close(link[0]);
  close(listener);
  close(signals);
  init(&config, link[1]);
}

/* A command that ran in a container before this one, or runs in one beside it, is known in all of them. */
static int make_commands(void) {
  if (!config.root) return mkdir("ctl/exec", 0755);
  if (mkdir(CONTAINER_SHARED "/exec", 0755) && errno != EEXIST) return -1;
  return symlink(CONTAINER_SHARED "/exec", "ctl/exec");
}

/* NULL, or what is wrong. */
static const char *begin(char *input, size_t size) {
  /* `<bytes of the config>\n`, the config, the environment. */
  char *text_of = strchr(input, '\n');
  size_t length = strtoull(input, NULL, 10);
  if (!text_of || length > (size_t)(input + size - ++text_of)) return "no configuration";
  int environment = open("environment", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600), link[2];
  if (environment < 0 || !write_all(environment, text_of + length, (size_t)(input + size - text_of) - length)) return "cannot write the environment";
  close(environment);
  text_of[length] = 0;
  if (replace_file(AT_FDCWD, "config", text_of)) return "cannot write the configuration";
  load_config(&config);
  config.contained = true;
  began_at = config.began ? (int64_t)config.began : time(NULL);
  deadline = now() + (double)config.deadline - (double)(time(NULL) - began_at);
  make_stage(&config);
  volume_mount(&config);
  if (mkdir("ctl", 0755) || make_commands()) return "the volume was used before";
  container_groups(&config);
  const char *problem = config.network_inside ? rules_begin(&config) : NULL;
  if (problem) return problem;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link)) return "socketpair";
  start_init(link);
  close(link[1]);
  init_link = link[0];
  return wait_ready(init_link);
}

static void say(int connection, const char *line) {
  write_all(connection, line, strlen(line));
  write_all(connection, "\n", 1);
}

static char *read_request(int connection, size_t *used) {
  size_t room = MAX_BEGIN, size = 0;
  char *data = malloc(room + 1);
  if (!data) return NULL;
  for (*used = 0; *used < room;) {
    ssize_t got = read(connection, data + *used, room - *used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    *used += (size_t)got;
    data[*used] = 0;
    char *body = strchr(data, '\n');
    if (body && sscanf(data, "%*s %zu", &size) == 1 && *used >= (size_t)(body + 1 - data) + size) return data;
  }
  free(data);
  return NULL;
}

static void serve_call(void) {
  int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0) return;
  struct timeval patience = {.tv_sec = 5};
  setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  size_t size;
  char *request = read_request(connection, &size);
  if (request && !strncmp(request, "ping", 4)) say(connection, "ok");
  if (request && !strncmp(request, "begin ", 6)) {
    char *body = strchr(request, '\n') + 1;
    /* Whoever asks again, because an answer was lost, means the same sandbox. */
    failure_socket = connection;
    const char *problem = init_pid ? NULL : begin(body, size - (size_t)(body - request));
    if (problem) fail("%s", problem);
    failure_socket = FAILURE_STDERR;
    say(connection, "ok");
  }
  free(request);
  close(connection);
}

static void serve_init(void) {
  char message[64];
  ssize_t size = recv(init_link, message, sizeof message - 1, MSG_DONTWAIT);
  if (size <= 0) return;
  message[size] = 0;
  const char *problem = config.network_inside ? rules_switch(!strcmp(message, "network on")) : "the engine switches this sandbox's network";
  send(init_link, problem ? problem : "ok", strlen(problem ? problem : "ok"), MSG_NOSIGNAL);
}

/* Where no file system holds the disk limit, it is looked at from time to time, by a child. */
static void measure_disk(void) {
  if (!init_pid || config.volume || disk_watcher || now() < next_measure) return;
  next_measure = now() + DISK_SECONDS;
  disk_watcher = fork();
  if (disk_watcher < 0) disk_watcher = 0;
  if (disk_watcher || getpid() == 1) return;
  setpriority(PRIO_PROCESS, 0, 10);
  unsigned long long used = config.layers ? folder_usage("vol", 0) : folder_usage("/", began_at);
  _exit(used > config.disk);
}

/* What PID 1 ends with once init has ended or the disk limit is passed; -1 before. */
static int reap_children(void) {
  pid_t pid;
  int status, code = -1;
  while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
    if (pid == init_pid) code = 1;
    if (pid != disk_watcher) continue;
    disk_watcher = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 1) code = EXIT_DISK;
  }
  if (code == EXIT_DISK) note("the sandbox has written more than its disk limit");
  if (code == 1) note("the sandbox's init ended");
  return code;
}

/* Of the engine: signals of processes in the container have a sender with a pid. */
static bool told_to_end(void) {
  struct signalfd_siginfo signal;
  bool told = false;
  while (read(signals, &signal, sizeof signal) == sizeof signal) told |= signal.ssi_signo != SIGCHLD && signal.ssi_pid == 0;
  return told;
}

static int watch(void) {
  for (;;) {
    double left = deadline - now();
    if (left <= 0) {
      note(init_pid ? "the sandbox's deadline is over" : "nobody began");
      return 0;
    }
    measure_disk();
    if (init_pid && !config.volume && left > DISK_SECONDS) left = DISK_SECONDS;
    struct pollfd wait[] = {{.fd = signals, .events = POLLIN}, {.fd = listener, .events = POLLIN}, {.fd = init_link, .events = POLLIN}};
    if (poll(wait, 3, left > 3600 ? 3600000 : (int)(left * 1000) + 1) < 0 && errno != EINTR) return 1;
    if (wait[2].revents & POLLIN) serve_init();
    if (wait[1].revents & POLLIN) serve_call();
    if (told_to_end()) return 0;
    int code = reap_children();
    if (code >= 0) return code;
  }
}

int contained(const char *wait_seconds) {
  failure_socket = FAILURE_STDERR;
  umask(022);
  if (getpid() != 1) fail("contained: only as PID 1 of a container");
  /* Where commands run among its own processes: they have its user's id, and nothing of it to look into. */
  prctl(PR_SET_DUMPABLE, 0);
  deadline = now() + strtod(wait_seconds, NULL);
  if (chdir(CONTAINER_VOLUME)) fail("%s: %s", CONTAINER_VOLUME, strerror(errno));
  if (access("keeper.sock", F_OK) == 0) fail("the container was started a second time; its sandbox is lost");
  sigset_t mask;
  sigfillset(&mask);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  signals = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) fail("signalfd: %s", strerror(errno));
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL)) note("mounts are not private: %s", strerror(errno));
  count_ids();
  listen_for_calls();
  int code = watch();
  volume_discard();
  return code;
}
