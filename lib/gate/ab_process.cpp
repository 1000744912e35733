// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/ab_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <thread>

#include "lib/base/error.h"
#include "lib/isolate/child_process.h"
#include "lib/result/result_reader.h"
#include "lib/session/aa_pairs.h"

namespace attnbench {
namespace {

constexpr std::chrono::milliseconds kPause{10};

/// A file that takes what a child prints.
class ChildLog {
 public:
  explicit ChildLog(std::string path)
      : path_(std::move(path)),
        descriptor_(::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600)) {
    if (descriptor_ >= 0) return;
    throw EnvironmentError(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
  }
  ~ChildLog() { ::close(descriptor_); }
  ChildLog(const ChildLog&) = delete;  // one descriptor, one owner
  ChildLog& operator=(const ChildLog&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }

  /// The first error, or else the last line.
  [[nodiscard]] std::string message() const {
    std::ifstream file(path_);
    std::string last;
    for (std::string line; std::getline(file, line);) {
      if (line.find("error:") != std::string::npos) return line;
      if (!line.empty()) last = line;
    }
    return last;
  }

 private:
  std::string path_;
  int descriptor_;
};

std::string with_message(const std::string& end, const std::string& message) {
  return message.empty() ? end : fmt::format("{}: {}", end, message);
}

/// Each value of `cells` behind the option's name.
template <class Value>
void add_choices(std::vector<std::string>& words, const std::vector<CellKey>& cells,
                 const char* option, const Value& value) {
  std::set<std::string> seen;
  for (const CellKey& cell : cells) {
    if (seen.insert(std::string(value(cell))).second) {
      words.insert(words.end(), {option, std::string(value(cell))});
    }
  }
}

}  // namespace

std::vector<std::string> ab_command(const AbPrograms& programs, AbSide side, bool verify,
                                    const std::vector<CellKey>& cells, const std::string& json) {
  std::vector<std::string> words = {side == AbSide::kBase ? programs.base : programs.now, "run"};
  words.insert(words.end(), programs.scenarios.begin(), programs.scenarios.end());
  words.insert(words.end(), programs.options.begin(), programs.options.end());
  const std::string& python = side == AbSide::kBase ? programs.base_python : programs.new_python;
  if (!python.empty()) words.insert(words.end(), {"--python", python});
  if (cells.empty()) {
    words.insert(words.end(), programs.filters.begin(), programs.filters.end());
  }
  add_choices(words, cells, "--case", [](const CellKey& cell) { return cell.case_id; });
  add_choices(words, cells, "--backend",
              [](const CellKey& cell) { return registered_name(cell.backend); });
  add_choices(words, cells, "--step", [](const CellKey& cell) { return to_string(cell.step); });
  add_choices(words, cells, "--cache", [](const CellKey& cell) { return to_string(cell.cache); });
  add_choices(words, cells, "--launch", [](const CellKey& cell) { return to_string(cell.launch); });
  words.insert(words.end(), {"--rounds", "1", "--quiet", "--json", json});
  if (!verify) words.emplace_back("--no-verify");
  return words;
}

AbMeasurement run_ab_process(const std::vector<std::string>& words, const std::string& json,
                             std::chrono::duration<double> limit,
                             const std::function<bool()>& stop_requested) {
  std::error_code ignored;
  std::filesystem::remove(json, ignored);
  const ChildLog log(json + ".log");
  ChildProcess child(words, log.descriptor(), nullptr, log.descriptor());
  const auto begin = std::chrono::steady_clock::now();
  const auto is_stopped = [&] { return stop_requested && stop_requested(); };
  const auto is_late = [&] { return std::chrono::steady_clock::now() - begin > limit; };
  while (!child.has_ended() && !is_stopped() && !is_late()) std::this_thread::sleep_for(kPause);
  const std::optional<std::string> end = child.end(std::chrono::milliseconds(0));
  AbMeasurement measured;
  if (!end && is_stopped()) {
    measured.failure = "was stopped";
    return measured;
  }
  if (!end) {
    measured.failure = with_message(
        fmt::format("had not ended after {} s (--process-timeout) and was killed", limit.count()),
        log.message());
    measured.crashed = measured.hung = true;
    return measured;
  }
  const bool killed = end->starts_with("was killed");
  if (!killed && std::filesystem::exists(json, ignored)) {
    try {
      measured.run = read_results(json);
      return measured;
    } catch (const ConfigError& error) {
      measured.failure = fmt::format("{} and wrote no readable result: {}", *end,
                                     error.diagnostics().front().message);
      return measured;
    }
  }
  measured.failure = with_message(*end, log.message());
  // A command line that is refused (4), and a machine that cannot (5), are no fault of the
  // program's.
  measured.crashed = !end->ends_with(" code 4") && !end->ends_with(" code 5");
  return measured;
}

}  // namespace attnbench
