/* A default-allow filter: denies what no set-up of a repository needs and what has been a way out of sandboxes. */
#include "init.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#else
#error "add this architecture's AUDIT_ARCH constant"
#endif

static const int denied[] = {
    SYS_mount, SYS_umount2, SYS_pivot_root, SYS_fsopen, SYS_fsconfig, SYS_fsmount, SYS_fspick, SYS_move_mount,
    SYS_open_tree, SYS_mount_setattr, SYS_setns, SYS_unshare, SYS_bpf, SYS_perf_event_open, SYS_userfaultfd,
    SYS_keyctl, SYS_add_key, SYS_request_key, SYS_kexec_load, SYS_kexec_file_load, SYS_init_module,
    SYS_finit_module, SYS_delete_module, SYS_reboot, SYS_swapon, SYS_swapoff, SYS_acct, SYS_quotactl,
    SYS_open_by_handle_at, SYS_name_to_handle_at, SYS_lookup_dcookie, SYS_io_uring_setup, SYS_io_uring_enter,
    SYS_io_uring_register, SYS_settimeofday, SYS_clock_settime, SYS_clock_adjtime, SYS_adjtimex, SYS_syslog,
};
#define DENIED (sizeof denied / sizeof *denied)

/* Families that no network namespace holds back: AF_VSOCK reaches the hypervisor, AF_ALG the kernel's own crypto. */
static const unsigned families[] = {AF_VSOCK, AF_ALG};

static const struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
static const struct sock_filter deny = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
static const struct sock_filter absent = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS);

static const struct sock_filter no_family = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT);

#define LOAD(field) (struct sock_filter) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define IF_EQUAL(value, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)

void deny_system_calls(void) {
  struct sock_filter program[DENIED * 2 + 16];
  unsigned short size = 0;
  program[size++] = LOAD(arch);
  program[size++] = IF_EQUAL(ARCHITECTURE, 1, 0);
  /* Another ABI of the same machine would go round the list. */
  program[size++] = absent;
  program[size++] = LOAD(nr);
#if defined(__x86_64__)
  program[size++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1);
  program[size++] = absent;
#endif
  for (size_t i = 0; i < DENIED; i++) {
    program[size++] = IF_EQUAL((unsigned)denied[i], 0, 1);
    program[size++] = denied[i] == SYS_io_uring_setup ? absent : deny;
  }
  /* The arguments of clone3 are out of a filter's sight: libraries fall back to clone. */
  program[size++] = IF_EQUAL(SYS_clone3, 0, 1);
  program[size++] = absent;
  program[size++] = IF_EQUAL(SYS_socket, 0, 5);
  program[size++] = LOAD(args[0]);
  for (size_t i = 0; i < 2; i++) {
    program[size++] = IF_EQUAL(families[i], 0, 1);
    program[size++] = no_family;
  }
  program[size++] = allow;
  struct sock_fprog filter = {size, program};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
    note("sandbox: cannot install the system call filter: %s", strerror(errno));
    _exit(126);
  }
}
