/*
 * sandbox-init: what runs a sandbox from the inside, and its keeper.
 *
 *   keeper      on the host (local driver): volume, control group, id maps, network helper, deadline
 *   contained   in a container (engines): the same as its PID 1, where the engine has not done it already
 *   call        in a container: one short request, started by the engine's exec
 *   init        PID 1 of the sandbox: stage, layers, control socket, reaping
 *   supervisor  one per command: limits, output, exit file
 *   payload     the command itself, in the inner user namespace
 *
 * Two nested user namespaces: init and the supervisors run in the outer one (a container's own) under an id (payload_ids)
 * that the inner one does not map, so nothing that the payload does (kill -9 -1 as root, ptrace, /proc/1) reaches them.
 */
#ifndef SANDBOX_INIT_H
#define SANDBOX_INIT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct nlmsghdr;

/* How many ids the payload has, from 0; the one above is init's. 65536, or 65535 in a container that has no more. */
extern unsigned payload_ids;
#define MAX_MOUNTS 64
#define MAX_UNREACHABLE 256
#define NAME_SIZE 160

struct bind_mount {
  char *source, *target;
  bool directory;
};

/* The sandbox's `config` file: one `key<TAB>value` per line, written by the driver. */
struct config {
  char *id, *base, *hostname;
  unsigned long long memory, disk, processes, deadline, id_base, group_base;
  double cpus;
  /* `volume`: a loop device holds the disk limit. `bound`: the keeper has mounted the stage's binds. */
  bool network, volume, bound;
  /* In a container. `layers`: init may mount. `own_users`: its user namespace is its own; `network_inside`: PID 1 switches the network. */
  bool contained, layers, own_users, network_inside;
  /* Of a sandbox whose frames the engine keeps, so that it has several containers: which root this one is, and when the first began. */
  char *root;
  unsigned long long began;
  struct bind_mount mounts[MAX_MOUNTS];
  char *unreachable[MAX_UNREACHABLE];
  int mount_count, unreachable_count;
};

/* util.c */
/* Where a fatal message goes besides stderr: a file called `failed` (-1), the socket to the keeper, or nowhere. */
#define FAILURE_STDERR (-2)
extern int failure_socket;
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *text(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool write_all(int fd, const void *data, size_t size);
/* 0, or -1 with errno: one write(2) of the whole text, as /proc and cgroup files want it. */
int write_file(const char *path, const char *content);
/* Writes beside the target and renames. */
int replace_file(int folder, const char *name, const char *content);
/* Whole file, NUL-terminated, in fresh memory; NULL with errno. */
char *read_file(int folder, const char *name, size_t *size);
double now(void);
void load_config(struct config *config);
/* Start time of a process (field 22 of /proc/pid/stat), 0 when there is none. */
unsigned long long start_time(pid_t pid);
void hide_arguments(char **argv, const char *name);


/* idmap.c */
void write_maps(pid_t pid, const struct config *config);
int run_mapped(int argc, char **argv);
int pipe_wait(int fd);

/* cgroup.c */
void cgroup_make(const struct config *config);
void cgroup_attach(pid_t pid);
/* Removes the groups named in the file `cgroups` of the current folder, ending what is in them. */
void cgroup_remove(void);
/* Files of the group, opened before the sandbox loses sight of them; -1 where there is no group. */
extern int oom_file, peak_file;
unsigned long long oom_kills(void);

/* format.c */
void format_disk(int file, unsigned long long bytes, unsigned long long owner, unsigned long long group_owner);

/* volume.c */
void volume_mount(const struct config *config);
/* Drops the volume without writing back what is still in memory. */
void volume_discard(void);
/* Waits until the loop device of the current folder is free again. */
void volume_wait(void);

/* network.c */
void network_start(pid_t init);
void network_stop(void);
bool network_runs(void);
/* Tells whether the ended process was the helper. */
bool network_ended(pid_t pid);

/* make-stage.c */
/* Folders that init mounts on, in the present folder. */
void make_stage(const struct config *config);
/* Reads the first message of init: NULL when it is ready, else what is wrong. */
const char *wait_ready(int link);

/* keeper.c, destroy.c */
int keeper(const char *folder, char **argv);
int destroy(const char *folder);

/* contained.c */
#define CONTAINER_VOLUME "/.bench/volume"
#define CONTAINER_MOUNTS "/.bench/mounts"
/* What all containers of one sandbox share. */
#define CONTAINER_SHARED "/.bench/shared"
int contained(const char *wait_seconds);

/* container-groups.c */
/* Opens what the engine's control group tells, and makes one below it for the payload where it can. */
void container_groups(const struct config *config);
/* Moves the calling process into the payload's group. */
void join_payload_group(void);

/* rules.c */
/* NULL, or what is wrong. */
const char *rules_begin(const struct config *config);
const char *rules_switch(bool on);

/* init.c */
_Noreturn void init(const struct config *config, int keeper_socket);
extern int control_folder, exec_folder, keeper_link;
extern const struct config *settings;
void reap(void);

/* routes.c */
/* Makes 169.254.0.0/16 unreachable: clouds hand out credentials there. 0, or -1 with errno. */
int forbid_link_local(void);
/* One request to the kernel's routing; 0, or -1 with errno. */
int ask_routing(struct nlmsghdr *request);

/* stage.c */
void stage_binds(const struct config *config);
void stage_enter(const struct config *config);
void stage_seal(const struct config *config);
/* Builds a root in a fresh mount namespace of the calling process and enters it. `layers`: overlay's lowerdir, without the base. */
void root_enter(const struct config *config, const char *lower, const char *layer);

/* userns.c */
extern int inner_user;
void inner_user_make(unsigned long long processes);
void inner_user_enter(void);

/* layer-mount.c */
/* The mount namespace of a new layer over the others (overlay's lowerdir), or -1. */
int mount_layer(const char *lower, unsigned number);

/* layers.c */
struct layer;
struct layer *root_layer(const char *root);
int layer_namespace(const struct layer *layer);
void layers_begin(void);
/* Each returns NULL, or what is wrong. */
const char *root_push(const char *root, const char *frame);
const char *root_pop(const char *root, const char *frame);
const char *root_fork(const char *root, const char *name);
const char *root_drop(const char *name);

/* exec.c */
/* NULL, or what is wrong. A second start of the same name does nothing. */
const char *exec_start(const char *name, struct layer *layer);
/* Whether a supervisor still watches over it. */
bool exec_alive(const char *name);
bool exec_signal(const char *name, int signal);
void exec_signal_layer(const struct layer *layer, int signal);
bool exec_in_layer(const struct layer *layer);
/* The root of another container that claimed the command; NULL when this one did, or nobody. */
const char *exec_elsewhere(const char *name);
/* Ends all commands and their daemons; waits for them, though not for ever. */
void exec_end_all(void);
void exec_ended(pid_t pid);

/* supervisor.c */
_Noreturn void supervise(int folder, int namespace);

/* output.c: stream 0 is stdout, 1 is stderr. */
void output_open(int folder);
int output_writer(int stream);
int output_reader(int stream);
void output_close_writers(void);
void output_drain(unsigned long long limit);
bool output_over(void);

/* payload.c */
struct request {
  char *cwd, *command, **environment;
  double seconds;
  unsigned long long output;
};
_Noreturn void payload(const struct request *request, int namespace, int folder, int in, int out, int err);

/* seccomp.c */
void deny_system_calls(void);

/* tree.c */
/* Each sends the signal to all of the kind that live, and returns how many there were. */
int signal_descendants(pid_t ancestor, int signal);
int signal_namespace(ino_t mount_namespace, int signal);
/* SIGKILL that even a fork bomb does not outrun: stop all until none is new, then kill. Returns how many were left. */
int kill_descendants(pid_t ancestor);
int kill_namespace(ino_t mount_namespace);
extern int proc_folder;

/* control.c */
void control_begin(void);
extern int control_socket;
void control_serve(void);
/* For children of init: closes what only init may hold. */
void leave_control(void);

/* files.c */
void serve_file(int connection, const struct layer *layer, unsigned long long limit, const char *path);
void serve_usage(int connection);

/* usage.c */
/* Bytes below the folder, on its file system; only of what was changed since then when it is not 0. */
unsigned long long folder_usage(const char *path, int64_t since);

/* plain.c: in a container without the right to mount. */
extern int64_t plain_since;
void plain_begin(const struct config *config);
void plain_root_enter(void);

/* trash.c */
/* Takes the layer's folder out of sight at once; a child of init unmounts and removes it later. */
void discard_layer(const char *folder, int namespace);

#endif
