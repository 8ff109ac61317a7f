/* The last steps before the command: out of every privilege that the sandbox itself has. */
#include "init.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SCRIPT_FD 63
/* The kernel takes no longer single argument. */
#define LONGEST_ARGUMENT (120 * 1024)

/* Docker's default set. Those of the network have no effect in this user namespace, but programs that ask for them start. */
static const int kept[] = {CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FSETID, CAP_FOWNER, CAP_MKNOD, CAP_SETGID, CAP_SETUID,
                           CAP_SETFCAP, CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_NET_RAW, CAP_SYS_CHROOT, CAP_KILL, CAP_AUDIT_WRITE};

static _Noreturn void stop(int code, const char *what) {
  note("sandbox: %s: %s", what, strerror(errno));
  _exit(code);
}

static void limit(int resource, rlim_t soft, rlim_t hard) {
  struct rlimit now;
  if (getrlimit((__rlimit_resource_t)resource, &now)) stop(126, "getrlimit");
  if (hard > now.rlim_max) hard = now.rlim_max;
  if (soft > hard) soft = hard;
  struct rlimit next = {soft, hard};
  if (setrlimit((__rlimit_resource_t)resource, &next)) stop(126, "setrlimit");
}

static void set_limits(void) {
  limit(RLIMIT_NPROC, settings->processes, settings->processes);
  /* Not 0: the host's core_pattern may name a program, which only this value keeps from being run. */
  limit(RLIMIT_CORE, 1, 1);
  limit(RLIMIT_NOFILE, 65536, RLIM_INFINITY);
  /* Ended before init when memory runs out. */
  if (write_file(settings->layers ? "/p/self/oom_score_adj" : "/proc/self/oom_score_adj", "700")) note("sandbox: oom_score_adj: %s", strerror(errno));
  umask(022);
}

static void bound_capabilities(void) {
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; capability++) {
    bool keep = false;
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) keep |= kept[i] == capability;
    /* Among the supervisors, which have another user's id. */
    if (!settings->layers && capability == CAP_KILL) keep = false;
    if (!keep && prctl(PR_CAPBSET_DROP, capability)) stop(126, "cannot bound the capabilities");
  }
}

static void reset_signals(void) {
  struct sigaction plain = {.sa_handler = SIG_DFL};
  for (int number = 1; number < NSIG; number++) sigaction(number, &plain, NULL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Standard streams, and the script where it is too long to be an argument; nothing else stays open. */
static bool arrange_files(const struct request *request, int folder, int in, int out, int err) {
  bool as_file = strlen(request->command) > LONGEST_ARGUMENT;
  if (as_file) {
    int script = openat(folder, "command", O_RDONLY);
    if (script < 0 || dup2(script, SCRIPT_FD) < 0) stop(126, "cannot open the script");
  }
  if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0) stop(126, "cannot arrange the streams");
  syscall(SYS_close_range, 3, SCRIPT_FD - 1, 0);
  syscall(SYS_close_range, as_file ? SCRIPT_FD + 1 : SCRIPT_FD, ~0U, 0);
  return as_file;
}

_Noreturn void payload(const struct request *request, int namespace, int folder, int in, int out, int err) {
  dup2(err, 2);
  setsid();
  join_payload_group();
  set_limits();
  if (!settings->layers) {
    plain_root_enter();
  } else {
    if (setns(namespace, CLONE_NEWNS)) stop(126, "cannot enter the root");
    inner_user_enter();
  }
  bool as_file = arrange_files(request, folder, in, out, err);
  if (chdir(request->cwd)) stop(126, text("cannot enter %s", request->cwd));
  bound_capabilities();
  reset_signals();
  /* Without CAP_SYS_ADMIN a filter would forbid setuid programs; the engine's own is in force, and nothing can be mounted. */
  if (settings->layers) deny_system_calls();
  char *inline_command[] = {"bash", "-c", request->command, NULL}, *file_command[] = {"bash", "/dev/fd/63", NULL};
  execve("/bin/bash", as_file ? file_command : inline_command, request->environment);
  stop(errno == ENOENT ? 127 : 126, "cannot run /bin/bash");
}
