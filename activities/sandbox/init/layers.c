/*
 * Layers, frames and roots. A layer is an upper directory on the volume with the mount namespace whose root it is; a
 * root is a named stack of them. Pushing makes a new layer above; what was started before goes on in its own. A layer
 * goes back to being written only when nothing stands on it.
 */
#include "init.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One page holds overlay's option string, and the kernel takes at most 500 layers. */
#define LOWER_SIZE 3800
#define MAX_FRAMES 450
#define MAX_ROOTS 64

struct root;
struct layer {
  unsigned number;
  int namespace, children;
  ino_t inode;
  bool dropped;
  struct layer *parent;
  struct root *owner;
};

struct frame {
  char name[NAME_SIZE];
  struct layer *layer;
};

struct root {
  char name[NAME_SIZE];
  struct layer *top;
  struct frame frames[MAX_FRAMES];
  int depth;
  /* The last frame popped, so that a repeated pop is no error. */
  char popped[NAME_SIZE];
};

static struct root *roots[MAX_ROOTS];
static int root_count;
static unsigned next_number;

static struct root *find_root(const char *name) {
  for (int i = 0; i < root_count; i++)
    if (!strcmp(roots[i]->name, name)) return roots[i];
  return NULL;
}

struct layer *root_layer(const char *name) {
  struct root *root = find_root(name);
  return root ? root->top : NULL;
}

int layer_namespace(const struct layer *layer) { return layer->namespace; }

static struct layer *layer_new(struct layer *parent, struct root *owner) {
  char lower[LOWER_SIZE] = "";
  size_t used = 0;
  for (struct layer *at = parent; at; at = at->parent) {
    if (used > sizeof lower - 32) return NULL;
    used += (size_t)sprintf(lower + used, "v/%x/d:", at->number);
  }
  strcpy(lower + used, "b");
  unsigned number = next_number++;
  int namespace = mount_layer(lower, number);
  struct stat info;
  if (namespace < 0 || fstat(namespace, &info)) return NULL;
  struct layer *layer = calloc(1, sizeof *layer);
  if (!layer) _exit(1);
  *layer = (struct layer){.number = number, .namespace = namespace, .inode = info.st_ino, .parent = parent, .owner = owner};
  if (parent) parent->children++;
  return layer;
}

/* Removes dropped layers that nothing stands on, downwards. */
static void release(struct layer *layer) {
  while (layer && layer->dropped && layer->children == 0) {
    struct layer *parent = layer->parent;
    char *folder = text("v/%x", layer->number);
    discard_layer(folder, layer->namespace);
    free(folder);
    free(layer);
    if (parent) parent->children--;
    layer = parent;
  }
}

/* Ends all that runs in the layer, its supervisors too. */
static void end_processes(const struct layer *layer) {
  exec_signal_layer(layer, SIGUSR1);
  while (kill_namespace(layer->inode) > 0 || exec_in_layer(layer)) {
    reap();
    usleep(1000);
  }
}

/* Ends and drops the root's own layers from its top down to, not including, `stop`. */
static void drop_down_to(struct root *root, struct layer *stop) {
  struct layer *top = root->top;
  for (struct layer *at = top; at && at != stop; at = at->parent) {
    if (at->owner != root) continue;
    end_processes(at);
    at->dropped = true;
  }
  release(top);
}

static int frame_index(const struct root *root, const char *frame) {
  for (int i = 0; i < root->depth; i++)
    if (!strcmp(root->frames[i].name, frame)) return i;
  return -1;
}

const char *root_push(const char *name, const char *frame) {
  struct root *root = find_root(name);
  if (!root) return "no such root";
  if (frame_index(root, frame) >= 0) return NULL;
  if (root->depth == MAX_FRAMES) return "too many frames on this root";
  struct layer *above = layer_new(root->top, root);
  if (!above) return "the new layer could not be mounted (too many frames, or the disk is full)";
  struct frame *slot = &root->frames[root->depth++];
  snprintf(slot->name, sizeof slot->name, "%s", frame);
  slot->layer = root->top;
  root->top = above;
  root->popped[0] = 0;
  return NULL;
}

const char *root_pop(const char *name, const char *frame) {
  struct root *root = find_root(name);
  if (!root) return "no such root";
  int index = frame_index(root, frame);
  if (index < 0) return strcmp(root->popped, frame) ? "no such frame" : NULL;
  struct layer *target = root->frames[index].layer;
  /* Held, so that dropping what is above never drops it. */
  target->children++;
  drop_down_to(root, target);
  target->children--;
  bool writable = target->owner == root && !target->dropped && target->children == 0;
  struct layer *top = writable ? target : layer_new(target, root);
  if (!top) return "the layer could not be mounted";
  root->top = top;
  root->depth = index;
  snprintf(root->popped, sizeof root->popped, "%s", frame);
  return NULL;
}

static struct root *add_root(const char *name) {
  if (root_count == MAX_ROOTS) return NULL;
  struct root *root = calloc(1, sizeof *root);
  if (!root) _exit(1);
  snprintf(root->name, sizeof root->name, "%s", name);
  return root;
}

const char *root_fork(const char *name, const char *fork_name) {
  struct root *root = find_root(name);
  if (!root) return "no such root";
  if (find_root(fork_name)) return NULL;
  struct root *copy = add_root(fork_name);
  if (!copy) return "too many forks";
  struct layer *frozen = root->top, *mine = layer_new(frozen, root), *its = mine ? layer_new(frozen, copy) : NULL;
  if (mine) root->top = mine;
  if (!its) {
    free(copy);
    return "the fork could not be mounted (too many frames, or the disk is full)";
  }
  copy->top = its;
  copy->depth = root->depth;
  memcpy(copy->frames, root->frames, sizeof copy->frames);
  roots[root_count++] = copy;
  return NULL;
}

const char *root_drop(const char *name) {
  for (int i = 1; i < root_count; i++) {
    struct root *root = roots[i];
    if (strcmp(root->name, name)) continue;
    drop_down_to(root, NULL);
    free(root);
    roots[i] = roots[--root_count];
    return NULL;
  }
  return strcmp(name, "main") ? NULL : "the main root is not a fork";
}

/* The one layer of a container that can mount none: its own root. */
static struct layer *layer_plain(struct root *owner) {
  struct layer *layer = calloc(1, sizeof *layer);
  if (layer) *layer = (struct layer){.namespace = -1, .owner = owner};
  return layer;
}

void layers_begin(void) {
  struct root *root = add_root(settings->root ? settings->root : "main");
  root->top = settings->layers ? layer_new(NULL, root) : layer_plain(root);
  if (!root->top) fail("cannot mount the root file system (overlay with userxattr needs Linux 5.11; see keeper.log)");
  roots[root_count++] = root;
}
