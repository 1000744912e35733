// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/landlock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "lib/isolate/sandbox.h"

namespace attnbench {
namespace {

// The header that this is compiled with may be older than the kernel.
constexpr std::uint64_t kRefer = std::uint64_t{1} << 13;         // from version 2 on
constexpr std::uint64_t kTruncate = std::uint64_t{1} << 14;      // 3
constexpr std::uint64_t kNoAbstractSockets = 1, kNoSignals = 2;  // 6
struct Rules {
  std::uint64_t files = 0, network = 0, scoped = 0;
};
constexpr long kWithTruncate = 3, kWithScopes = 6;

constexpr std::uint64_t kWrites = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                                  LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                                  LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
                                  LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM;
constexpr std::uint64_t kNowhere = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

/// Allows `access` to a file, or to what is below a folder. One that is not there needs no rule.
void allow(int ruleset, const std::filesystem::path& path, std::uint64_t access) {
  const int opened = open(path.c_str(), O_PATH | O_CLOEXEC);
  if (opened < 0) return;
  landlock_path_beneath_attr below{};
  below.allowed_access = access;
  below.parent_fd = opened;
  syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &below, 0);
  close(opened);
}

/// A GPU's driver is called by writing to its devices, and CUDA does not begin (error 304) where it
/// cannot name its threads. A child has a folder of its own, so it has no GPU.
void allow_devices(int ruleset, std::uint64_t to_write) {
  allow(ruleset, "/dev/null", to_write);
  allow(ruleset, "/proc/self/task", to_write);
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", ignored)) {
    if (entry.path().filename().string().starts_with("nvidia")) {
      allow(ruleset, entry.path(), to_write);
    }
  }
}

}  // namespace

FileRules limit_writes(const std::string& scratch) {
  const long version =
      syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) {
    return {
        "writes are not limited, other processes' memory is not closed: the kernel has no "
        "Landlock, or it is switched off"};
  }
  const std::uint64_t truncate = version >= kWithTruncate ? kTruncate : 0;
  const std::uint64_t refer = version >= 2 ? kRefer : 0;
  Rules rules{.files = kWrites | kNowhere | truncate | refer};
  std::size_t size = sizeof rules.files;
  if (version >= kWithScopes) {
    rules.scoped = kNoAbstractSockets | kNoSignals;
    size = sizeof rules;
  }
  const auto ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, size, 0));
  if (ruleset < 0) return {fmt::format("writes are not limited: {}", std::strerror(errno))};
  allow(ruleset, scratch, kWrites | truncate | refer);
  allow_devices(ruleset, LANDLOCK_ACCESS_FS_WRITE_FILE | truncate);
  const bool entered = syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
  const int error = errno;
  close(ruleset);
  if (!entered) return {fmt::format("writes are not limited: {}", std::strerror(error))};
  return {version >= kWithTruncate ? "" : "files elsewhere can be emptied: Linux is older than 6.2",
          version >= kWithScopes};
}

}  // namespace attnbench
