/* Commands of the sandbox, as init sees them: claimed at most once, each with a supervisor. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_RUNNING 1024
/* Well under the patience of who waits for it. */
#define END_SECONDS 20

static struct running {
  pid_t pid;
  char name[NAME_SIZE];
  const struct layer *layer;
} running[MAX_RUNNING];
static int running_count;

const char *exec_start(const char *name, struct layer *layer) {
  if (running_count == MAX_RUNNING) return "too many commands at once";
  int folder = openat(exec_folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return "the command's folder is missing";
  /* Claimed before it is started: whatever happens now, no second start ever runs it. */
  int claim = openat(folder, "claim", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (claim < 0) {
    bool taken = errno == EEXIST;
    close(folder);
    return taken ? NULL : "the command could not be claimed";
  }
  bool signed_by_root = !settings->root || write_all(claim, settings->root, strlen(settings->root));
  close(claim);
  if (!signed_by_root) {
    close(folder);
    return "the command could not be claimed";
  }
  pid_t pid = fork();
  if (pid == 0) supervise(folder, layer_namespace(layer));
  close(folder);
  if (pid < 0) return "no process left for the command's supervisor";
  struct running *slot = &running[running_count++];
  slot->pid = pid;
  slot->layer = layer;
  snprintf(slot->name, sizeof slot->name, "%s", name);
  return NULL;
}

static struct running *find(const char *name) {
  for (int i = 0; i < running_count; i++)
    if (!strcmp(running[i].name, name)) return &running[i];
  return NULL;
}

bool exec_alive(const char *name) { return find(name) != NULL; }

bool exec_signal(const char *name, int signal) {
  struct running *slot = find(name);
  return slot && kill(slot->pid, signal) == 0;
}

void exec_signal_layer(const struct layer *layer, int signal) {
  for (int i = 0; i < running_count; i++)
    if (running[i].layer == layer) kill(running[i].pid, signal);
}

bool exec_in_layer(const struct layer *layer) {
  for (int i = 0; i < running_count; i++)
    if (running[i].layer == layer) return true;
  return false;
}

void exec_ended(pid_t pid) {
  for (int i = 0; i < running_count; i++)
    if (running[i].pid == pid) running[i--] = running[--running_count];
}

const char *exec_elsewhere(const char *name) {
  static char root[NAME_SIZE];
  if (!settings->root) return NULL;
  char *path = text("%s/claim", name), *claim = read_file(exec_folder, path, NULL);
  snprintf(root, sizeof root, "%s", claim ? claim : "");
  free(path);
  free(claim);
  return *root && strcmp(root, settings->root) ? root : NULL;
}

void exec_end_all(void) {
  for (int i = 0; i < running_count; i++) kill(running[i].pid, SIGUSR1);
  for (double end = now() + END_SECONDS; running_count > 0 && now() < end; usleep(1000)) reap();
}
