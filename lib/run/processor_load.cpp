// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/processor_load.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>

#include "lib/view/units.h"

namespace attnbench {
namespace {

double in_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// A running process as /proc/PID/stat tells of it (man 5 proc_pid_stat).
struct ProcessTimes {
  pid_t parent = 0;
  double ticks = 0;  ///< of it, and of its children that have ended
};

std::map<pid_t, ProcessTimes> running_processes() {
  std::map<pid_t, ProcessTimes> processes;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", none)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto read = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (read.ec != std::errc{} || read.ptr != name.data() + name.size()) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    std::getline(file, text, '\0');  // which does not throw where the process ends meanwhile
    const std::size_t name_end = text.rfind(')');  // the program's name may hold anything
    if (name_end == std::string::npos) continue;
    std::istringstream fields(text.substr(name_end + 1));
    char state = 0;
    ProcessTimes times;
    fields >> state >> times.parent;
    std::string ignored;
    for (int field = 5; field < 14; ++field) fields >> ignored;
    for (int field = 14; field < 18; ++field) {
      double ticks = 0;
      if (fields >> ticks) times.ticks += ticks;
    }
    processes[pid] = times;
  }
  return processes;
}

bool descends_from(pid_t pid, pid_t ancestor, const std::map<pid_t, ProcessTimes>& processes) {
  for (std::size_t steps = 0; steps < processes.size(); ++steps) {
    const auto found = processes.find(pid);
    if (found == processes.end()) return false;
    pid = found->second.parent;
    if (pid == ancestor) return true;
  }
  return false;
}

/// Of processors, by the processes below this one that have not ended.
double running_children_seconds() {
  const std::map<pid_t, ProcessTimes> processes = running_processes();
  double ticks = 0;
  for (const auto& [pid, times] : processes) {
    if (descends_from(pid, getpid(), processes)) ticks += times.ticks;
  }
  return ticks / static_cast<double>(sysconf(_SC_CLK_TCK));
}

/// Of processors, by this process and its children.
double own_seconds() {
  double sum = running_children_seconds();
  for (const auto who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    if (getrusage(who, &usage) == 0) sum += in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
  }
  return sum;
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::optional<ProcessorTimes> processor_times() {
  std::ifstream file("/proc/stat");
  return parse_processor_times(std::string(std::istreambuf_iterator<char>(file), {}));
}

constexpr int kQuietSeconds = 3;

std::string busy_text(const OtherPrograms& others) {
  return fmt::format("other programs keep {:.1f} of {} processors busy", others.busy_processors,
                     others.processors);
}

}  // namespace

std::optional<ProcessorTimes> parse_processor_times(std::string_view proc_stat) {
  std::istringstream lines{std::string(proc_stat)};
  ProcessorTimes times;
  bool known = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("cpu")) continue;
    if (line.size() > 3 && std::isdigit(static_cast<unsigned char>(line[3])) != 0) {
      ++times.processors;
      continue;
    }
    std::istringstream fields(line.substr(3));
    double user, nice, system, idle, iowait, irq, softirq, steal;
    if (!(fields >> user >> nice >> system >> idle >> iowait >> irq >> softirq >> steal)) return {};
    times.busy = user + nice + system + irq + softirq + steal;
    times.idle = idle + iowait;
    known = true;
  }
  if (!known || times.processors == 0) return {};
  return times;
}

std::optional<OtherPrograms> others_between(const ProcessorTimes& begin, const ProcessorTimes& end,
                                            double own_s, double wall_s) {
  const double busy = end.busy - begin.busy;
  const double all = busy + end.idle - begin.idle;
  if (all <= 0 || wall_s <= 0) return {};
  const double processors = busy / all * end.processors;
  return OtherPrograms{std::max(0.0, processors - own_s / wall_s), end.processors};
}

ProcessorLoad::ProcessorLoad()
    : times_(processor_times()), own_s_(own_seconds()), wall_s_(wall_seconds()) {}

double ProcessorLoad::seconds() const { return wall_seconds() - wall_s_; }

OtherPrograms ProcessorLoad::others() const {
  const std::optional<ProcessorTimes> now = processor_times();
  if (!times_ || !now) return {};
  return others_between(*times_, *now, own_seconds() - own_s_, seconds()).value_or(OtherPrograms{});
}

std::optional<OtherPrograms> watch_a_second() {
  const ProcessorLoad load;
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const OtherPrograms others = load.others();
  return others.known() ? std::optional(others) : std::nullopt;
}

std::string wait_until_quiet(double limit_s, const QuietWait& wait) {
  int quiet_s = 0;
  OtherPrograms others;
  for (int waited_s = 0; waited_s < limit_s; ++waited_s) {
    if (wait.stop_requested()) return {};
    const std::optional<OtherPrograms> seen = wait.watch_a_second();
    if (!seen) return "note: --quiet-wait: this system does not say how busy it is";
    others = *seen;
    quiet_s = others.disturb() ? 0 : quiet_s + 1;
    if (quiet_s == kQuietSeconds) return {};
    wait.progress(fmt::format("waiting, {} of at most {} · {}", rough_time(waited_s + 1),
                              rough_time(limit_s), busy_text(others)));
  }
  return fmt::format(
      "note: after {} of --quiet-wait {}; in a container, all programs of the machine count",
      rough_time(limit_s), busy_text(others));
}

}  // namespace attnbench
