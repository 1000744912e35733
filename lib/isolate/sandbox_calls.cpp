// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "lib/isolate/sandbox.h"

namespace attnbench {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t kArchitecture = 0;
#endif

/// Which calls of a row are let through.
enum class Allowed : std::uint8_t {
  kNone,
  kOwn,      ///< those whose argument is 0 or this process, or its group where it is negative
  kValue,    ///< those whose argument is `value`
  kNoFlags,  ///< those whose argument has none of `value`
  kOwnKind,  ///< those whose argument is `value`, and the next one as kOwn says
};

struct Row {
  int call;
  Allowed allowed = Allowed::kNone;
  int argument = 0;
  std::uint32_t value = 0;
  int error = EPERM;  ///< 0: a call that is refused seems to have worked
};

constexpr std::uint32_t kNamespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                                      CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;

constexpr Row kRows[] = {
    // The memory, files and descriptors of others.
    {SYS_ptrace},
    {SYS_process_vm_readv},
    {SYS_process_vm_writev},
    {SYS_process_madvise},
    {SYS_pidfd_getfd},
    {SYS_kcmp},
    {SYS_move_pages, Allowed::kOwn},
    {SYS_migrate_pages, Allowed::kOwn},
    // Their speed. Libraries of threads bind theirs by number, and would end where they cannot.
    {SYS_sched_setaffinity, Allowed::kOwn, 0, 0, 0},
    {SYS_sched_setscheduler, Allowed::kOwn},
    {SYS_sched_setparam, Allowed::kOwn},
    {SYS_sched_setattr, Allowed::kOwn},
    {SYS_prlimit64, Allowed::kOwn},
    {SYS_setpriority, Allowed::kOwnKind, 0, PRIO_PROCESS},
    {SYS_ioprio_set},
    // Signals that Landlock's rules do not see.
    {SYS_pidfd_send_signal},
    {SYS_rt_sigqueueinfo},
    {SYS_rt_tgsigqueueinfo},
    // The network, and what would make a socket without socket().
    {SYS_socket, Allowed::kValue, 0, AF_UNIX},
    {SYS_io_uring_setup},
    // Files that are no writes for Landlock.
    {SYS_fchmodat},
    {SYS_fchmod},
    {SYS_fchownat},
    {SYS_fchown},
    {SYS_setxattr},
    {SYS_lsetxattr},
    {SYS_fsetxattr},
    {SYS_removexattr},
    {SYS_lremovexattr},
    {SYS_fremovexattr},
    {SYS_open_by_handle_at},
#if defined(__x86_64__)
    {SYS_chmod},
    {SYS_chown},
    {SYS_lchown},
#endif
    // The system.
    {SYS_mount},
    {SYS_umount2},
    {SYS_pivot_root},
    {SYS_chroot},
    {SYS_move_mount},
    {SYS_open_tree},
    {SYS_fsopen},
    {SYS_fsmount},
    {SYS_setns},
    {SYS_unshare},
    {SYS_clone, Allowed::kNoFlags, 0, kNamespaces},
    {SYS_clone3, Allowed::kNone, 0, 0, ENOSYS},  // its flags cannot be read; clone() is called then
    {SYS_bpf},
    {SYS_perf_event_open},
    {SYS_userfaultfd},
    {SYS_keyctl},
    {SYS_add_key},
    {SYS_request_key},
    {SYS_init_module},
    {SYS_finit_module},
    {SYS_delete_module},
    {SYS_kexec_load},
    {SYS_reboot},
    {SYS_swapon},
    {SYS_swapoff},
    {SYS_quotactl},
    {SYS_acct},
    {SYS_syslog},
    {SYS_sethostname},
    {SYS_setdomainname},
    {SYS_settimeofday},
    {SYS_clock_settime},
    {SYS_adjtimex},
    {SYS_clock_adjtime},
};

// What came with later kernels than the headers here may know, under one number on all processors.
constexpr Row kNewerRows[] = {
    {442},  // mount_setattr
    {448},  // process_mrelease
    {452},  // fchmodat2
    {463},  // setxattrat
    {466},  // removexattrat
    {467},  // open_tree_attr
    {469},  // file_setattr
};

// Where Landlock does not keep signals inside.
constexpr Row kSignals[] = {
    {SYS_kill, Allowed::kOwn}, {SYS_tkill, Allowed::kOwn}, {SYS_tgkill, Allowed::kOwn}};

/// Programs for the kernel: jumps count the instructions that they leave out.
class Filter {
 public:
  explicit Filter(std::uint32_t self) : self_(self) {
    load(offsetof(seccomp_data, arch));
    jump(BPF_JEQ, kArchitecture, 1, 0);
    end(refusal(EPERM));
    load(offsetof(seccomp_data, nr));
#if defined(__x86_64__)
    constexpr std::uint32_t kX32 = 0x40000000;  // numbers of an older interface to the same calls
    jump(BPF_JGE, kX32, 0, 1);
    end(refusal(EPERM));
#endif
  }

  void add(const Row& row) {
    std::vector<sock_filter> all = std::exchange(program_, {});  // that of the row begins
    if (row.allowed != Allowed::kNone) load_argument(row.argument);
    if (row.allowed == Allowed::kOwnKind) {
      jump(BPF_JEQ, row.value, 1, 0);
      end(refusal(row.error));
      load_argument(row.argument + 1);
    }
    if (row.allowed == Allowed::kOwn || row.allowed == Allowed::kOwnKind) {
      for (const std::uint32_t own : {0u, self_, 0u - self_}) let_through(BPF_JEQ, own);
    } else if (row.allowed == Allowed::kValue) {
      let_through(BPF_JEQ, row.value);
    } else if (row.allowed == Allowed::kNoFlags) {
      jump(BPF_JSET, row.value, 1, 0);
      end(SECCOMP_RET_ALLOW);
    }
    end(refusal(row.error));
    const std::vector<sock_filter> of_row = std::exchange(program_, std::move(all));
    jump(BPF_JEQ, static_cast<std::uint32_t>(row.call), 0,
         static_cast<std::uint8_t>(of_row.size()));
    program_.insert(program_.end(), of_row.begin(), of_row.end());
  }

  /// Of this process, for good. SPEC_ALLOW: other programs' processors do not slow down for a
  /// filter either. False: errno says why.
  [[nodiscard]] bool enter() {
    end(SECCOMP_RET_ALLOW);
    const sock_fprog program{static_cast<unsigned short>(program_.size()), program_.data()};
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW,
                   &program) == 0;
  }

 private:
  static constexpr std::uint32_t refusal(int error) {
    return SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error);
  }
  void load(std::uint32_t offset) {
    program_.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset));
  }
  void load_argument(int index) {
    load(static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                    sizeof(std::uint64_t) * static_cast<std::size_t>(index)));
  }
  void jump(std::uint16_t how, std::uint32_t value, std::uint8_t then, std::uint8_t otherwise) {
    const auto code = static_cast<std::uint16_t>(BPF_JMP | BPF_K | how);
    program_.push_back(BPF_JUMP(code, value, then, otherwise));
  }
  void end(std::uint32_t action) { program_.push_back(BPF_STMT(BPF_RET | BPF_K, action)); }
  void let_through(std::uint16_t how, std::uint32_t value) {
    jump(how, value, 0, 1);
    end(SECCOMP_RET_ALLOW);
  }

  std::uint32_t self_;
  std::vector<sock_filter> program_;
};

}  // namespace

std::string limit_calls(bool signals_too) {
  if constexpr (kArchitecture == 0) return "system calls are not limited on this processor";
  Filter filter(static_cast<std::uint32_t>(getpid()));
  for (const Row& row : kRows) filter.add(row);
  for (const Row& row : kNewerRows) filter.add(row);
  if (signals_too) {
    for (const Row& row : kSignals) filter.add(row);
  }
  if (filter.enter()) return {};
  return fmt::format("system calls are not limited: {}", std::strerror(errno));
}

}  // namespace attnbench
