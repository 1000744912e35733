// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/processor_load.h"

#include <sys/resource.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace attnbench {
namespace {

double in_seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Of processors, by this process and its children that have ended.
double own_seconds() {
  double sum = 0;
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

std::optional<OtherPrograms> ProcessorLoad::others() const {
  const std::optional<ProcessorTimes> now = processor_times();
  if (!times_ || !now) return {};
  return others_between(*times_, *now, own_seconds() - own_s_, wall_seconds() - wall_s_);
}

}  // namespace attnbench
