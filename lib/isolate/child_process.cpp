// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "lib/base/error.h"
#include "lib/isolate/channel.h"
#include "lib/isolate/process_family.h"

namespace attnbench {
namespace {

constexpr const char* kOwnProgram = "/proc/self/exe";

void check(int error, const char* what) {
  if (error != 0) {
    throw EnvironmentError(
        fmt::format("cannot start a worker process: {}: {}", what, std::strerror(error)));
  }
}

class FileActions {
 public:
  FileActions(int descriptor, int output) {
    check(posix_spawn_file_actions_init(&actions_), "file actions");
    check(posix_spawn_file_actions_adddup2(&actions_, descriptor, kWorkerDescriptor), "dup2");
    check(posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
          "open");
    check(posix_spawn_file_actions_adddup2(&actions_, output, STDOUT_FILENO), "dup2");
    check(posix_spawn_file_actions_adddup2(&actions_, output, STDERR_FILENO), "dup2");
  }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

class OwnGroup {
 public:
  OwnGroup() {
    check(posix_spawnattr_init(&attributes_), "attributes");
    check(posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP), "process group");
    check(posix_spawnattr_setpgroup(&attributes_, 0), "process group");
  }
  ~OwnGroup() { posix_spawnattr_destroy(&attributes_); }
  OwnGroup(const OwnGroup&) = delete;
  OwnGroup& operator=(const OwnGroup&) = delete;
  [[nodiscard]] const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

/// Asks without reaping the process, so that its id and group are not given to another one.
bool process_has_ended(pid_t pid) {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

std::string describe(int status) {
  if (WIFEXITED(status)) return fmt::format("exited with code {}", WEXITSTATUS(status));
  const int signal = WTERMSIG(status);
  const char* const name = sigabbrev_np(signal);
  return fmt::format("was killed by signal {} ({}){}", signal,
                     name != nullptr ? fmt::format("SIG{}", name) : strsignal(signal),
                     signal == SIGKILL ? ", perhaps for want of memory," : "");
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> words, int descriptor, ProcessFamily* family,
                           int output)
    : family_(family) {
  const std::string program = words.front() == kThisProgram ? kOwnProgram : words.front();
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const FileActions actions(descriptor, output);
  const OwnGroup group;
  check(posix_spawnp(&pid_, program.c_str(), actions.get(), group.get(), argv.data(), environ),
        program.c_str());
  if (family_ != nullptr) family_->join(pid_);
}

bool ChildProcess::has_ended() const noexcept { return pid_ >= 0 && process_has_ended(pid_); }

ChildProcess::~ChildProcess() { static_cast<void>(end(std::chrono::milliseconds(0))); }

std::optional<std::string> ChildProcess::end(std::chrono::milliseconds patience) noexcept {
  using std::chrono::steady_clock;
  if (pid_ < 0) return std::nullopt;
  const auto deadline = steady_clock::now() + patience;
  bool by_itself = process_has_ended(pid_);
  while (!by_itself && steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    by_itself = process_has_ended(pid_);
  }
  ::kill(-pid_, SIGKILL);  // with every process that it has started
  ::kill(pid_, SIGKILL);   // it may not lead its group yet
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  if (family_ != nullptr) family_->leave(pid_);
  pid_ = -1;
  if (!by_itself) return std::nullopt;
  return describe(status);
}

}  // namespace attnbench
