// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/sandbox.h"

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace attnbench {
namespace {

/// Gives up every capability but those by which a superuser reads what others own.
void give_up_capabilities() {
  constexpr std::uint32_t kKept = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH;
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability) >= 0; ++capability) {
    if (capability >= 32 || (kKept & 1u << capability) == 0) prctl(PR_CAPBSET_DROP, capability);
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return;
  for (__user_cap_data_struct& set : sets) {
    const std::uint32_t kept = &set == sets.data() ? kKept : 0;
    set.effective &= kept;
    set.permitted &= kept;
    set.inheritable = 0;
  }
  syscall(SYS_capset, &header, sets.data());
}

/// Threads of this user, of which the kernel keeps count for RLIMIT_NPROC.
rlim_t threads_of_user() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  rlim_t count = 0;
  for (const auto& process : fs::directory_iterator("/proc", ignored)) {
    struct stat about {};
    const std::string path = process.path().string();
    if (stat(path.c_str(), &about) != 0 || about.st_uid != getuid()) continue;
    for (fs::directory_iterator each(path + "/task", ignored), end; !ignored && each != end;
         each.increment(ignored)) {
      ++count;
    }
  }
  return count;
}

/// Never above a limit that there is already. False: it could not be set.
bool limit(__rlimit_resource resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) != 0) return false;
  const rlim_t value = std::min(most, now.rlim_max);
  const rlimit set{value, value};
  return setrlimit(resource, &set) == 0;
}

/// Data, as the kernel counts them: not what a GPU's driver reserves, nor files and shared memory.
bool limit_memory() {
  const auto pages = static_cast<rlim_t>(sysconf(_SC_PHYS_PAGES));
  return limit(RLIMIT_DATA, pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)));
}

void set_limits(std::vector<MissingPart>& missing) {
  constexpr rlim_t kMostFile = rlim_t{4} << 30;  // of a cache of compiled kernels, by far
  constexpr rlim_t kMostThreads = 4096;          // more than a machine's processors
  const auto expect = [&](bool set, const char* what) {
    if (!set) missing.push_back({fmt::format("no limit on {}: {}", what, std::strerror(errno))});
  };
  expect(limit(RLIMIT_CORE, 0), "core files");
  expect(limit(RLIMIT_FSIZE, kMostFile), "the size of files");
  expect(limit_memory(), "memory");
  if (getuid() == 0) {
    missing.push_back({"no limit on processes: the superuser has none"});
  } else {
    expect(limit(RLIMIT_NPROC, threads_of_user() + kMostThreads), "processes");
  }
}

}  // namespace

std::vector<MissingPart> enter_sandbox(const std::string& scratch) {
  std::vector<MissingPart> missing;
  give_up_capabilities();
  set_limits(missing);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    missing.push_back({"new privileges are not refused", true});
  }
  FileRules rules = limit_writes(scratch);
  if (!rules.missing.empty()) missing.push_back({std::move(rules.missing), true});
  std::string without_calls = limit_calls(!rules.signals_end_here);
  if (!without_calls.empty()) missing.push_back({std::move(without_calls), true});
  return missing;
}

void move_caches_to(const std::string& scratch) {
  for (const char* variable : {"TMPDIR", "XDG_CACHE_HOME", "CUDA_CACHE_PATH", "TRITON_CACHE_DIR",
                               "TORCHINDUCTOR_CACHE_DIR", "TORCH_EXTENSIONS_DIR"}) {
    setenv(variable, scratch.c_str(), 1);
  }
}

void close_memory_to_others() noexcept { prctl(PR_SET_DUMPABLE, 0); }

}  // namespace attnbench
