// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <utility>

#include "backends/cheating_plugin/cheats.h"

// What a backend's process might do to others.
namespace cheats {
namespace {

/// Adds a process id to the file that a test names by a variable.
void tell_witness(const char* variable, pid_t pid) {
  if (const char* const path = std::getenv(variable)) {
    std::ofstream(path, std::ios::app) << pid << '\n';
  }
}

/// Where code of this object runs as soon as it is loaded.
[[maybe_unused]] const bool told = [] {
  tell_witness("CHEATS_LOADED_IN", getpid());
  return true;
}();

[[noreturn]] void outlive() {
  tell_witness("CHEATS_LEFT_BEHIND", getpid());
  sleep(600);
  _exit(0);
}

/// The bits behind a name of /proc/self/status.
std::uint64_t capabilities(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::stoull(line.substr(name.size()), nullptr, 16);
  }
  return 0;
}

}  // namespace

/// Whoever can write there overwrites the function that compares samples with the reference.
void writes_to_the_memory_of_its_run(Planned& planned) {
  const std::string memory = "/proc/" + std::to_string(getppid()) + "/mem";
  const int opened = open(memory.c_str(), O_RDWR | O_CLOEXEC);
  if (opened >= 0) throw std::runtime_error(memory + " can be written");
  attend_all(planned);
}

/// A superuser's worker could signal, slow down or look into any process.
void has_power_over_others(Planned& planned) {
  constexpr std::uint64_t kPower = 1u << 5 | 1u << 19 | 1u << 23;  // KILL, SYS_PTRACE, SYS_NICE
  for (const char* set : {"CapEff:", "CapPrm:", "CapInh:", "CapBnd:"}) {
    // An ordinary user's bounding set is never used.
    if (std::string(set) == "CapBnd:" && geteuid() != 0) continue;
    if ((capabilities(set) & kPower) != 0)
      throw std::runtime_error(std::string(set) + " has power");
  }
  attend_all(planned);
}

/// A code of success, and no result.
void ends_the_process_while_timed(Planned& planned) {
  attend_all(planned);
  static int runs = 0;
  if (++runs == 12) _exit(0);
}

/// A child, and one with a session of its own that has left its parent.
void leaves_processes_behind(Planned& planned) {
  static bool begun = false;
  if (!std::exchange(begun, true)) {
    if (fork() == 0) outlive();
    const pid_t between = fork();
    if (between == 0) {
      setsid();
      if (fork() == 0) outlive();
      _exit(0);
    }
    usleep(100'000);
  }
  attend_all(planned);
}

}  // namespace cheats
