// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/process_family.h"

#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>

namespace attnbench {
namespace {

/// A process that dies leaves its own children to this one, so that one look is not enough. So many
/// generations end; a backend that goes on forking faster than that is not what this is for.
constexpr int kGenerations = 100;

/// The parent in the text of /proc/PID/stat, behind the name, which may hold anything; 0: none.
pid_t parent_in(std::string_view stat) {
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos || name_end + 4 > stat.size()) return 0;
  stat.remove_prefix(name_end + 4);  // ") S "
  pid_t parent = 0;
  std::from_chars(stat.data(), stat.data() + stat.size(), parent);
  return parent;
}

pid_t parent_of(const std::string& pid) {
  std::FILE* const file = std::fopen(("/proc/" + pid + "/stat").c_str(), "re");
  if (file == nullptr) return 0;  // it is gone
  std::array<char, 512> text;
  const std::size_t size = std::fread(text.data(), 1, text.size(), file);
  std::fclose(file);
  return parent_in({text.data(), size});
}

std::set<pid_t> children_of_this_process() {
  std::set<pid_t> children;
  DIR* const folder = opendir("/proc");
  if (folder == nullptr) return children;
  const pid_t self = getpid();
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    std::from_chars(name.data(), name.data() + name.size(), pid);
    if (pid > 0 && parent_of(std::string(name)) == self) children.insert(pid);
  }
  closedir(folder);
  return children;
}

}  // namespace

ProcessFamily::ProcessFamily() : earlier_(children_of_this_process()) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void ProcessFamily::leave(pid_t child) noexcept {
  members_.erase(child);
  end_orphans();
}

void ProcessFamily::end_orphans() const noexcept {
  for (int generation = 0; generation < kGenerations; ++generation) {
    bool found = false;
    for (const pid_t child : children_of_this_process()) {
      if (earlier_.contains(child) || members_.contains(child)) continue;
      found = true;
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
    if (!found) return;
  }
}

}  // namespace attnbench
