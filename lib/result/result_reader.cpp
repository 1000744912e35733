// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/result_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/result/csv_columns.h"
#include "lib/result/journal.h"
#include "lib/result/record.h"
#include "lib/result/record_json.h"
#include "lib/result/run_json.h"

namespace attnbench {
namespace {

constexpr std::array<std::string_view, 15> kMembers = {
    "schema_version", "environment", "ceilings", "devices",     "scenario",
    "scenarios",      "plugins",     "others",   "wall_s",      "measuring_s",
    "spent_s",        "interrupted", "answer",   "model_steps", "records"};

[[noreturn]] void fail(const std::string& path, const std::string& message) {
  throw ConfigError(fmt::format("{}: {}", path, message));
}

std::string record_name(std::size_t index) { return fmt::format("records[{}]", index); }

/// Takes a results file apart while it is parsed: a record is converted and let go at once.
class ResultParser {
 public:
  explicit ResultParser(const std::string& path) : path_(path) {}

  /// The parser's callback; false: the value is not kept.
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    using Event = Json::parse_event_t;
    if (depth == 0 && event != Event::object_start && event != Event::object_end) {
      fail(path_, "no results of attnbench: it must begin with {");
    }
    if (depth == 1 && event == Event::key) {
      member_ = parsed.get<std::string>();
      if (std::ranges::find(kMembers, member_) == kMembers.end()) {
        fail(path_, fmt::format("no results of attnbench: it has '{}'", member_));
      }
    }
    if (depth == 1 && event == Event::value && member_ == "schema_version") {
      take_version(parsed);
    }
    if (depth != 2 || member_ != "records") return true;
    if (event == Event::object_end) {
      take_record(parsed);
      return false;
    }
    if (event == Event::value) fail(path_, record_name(run.records.size()) + " is no object");
    return true;
  }

  RunResult run;

 private:
  void take_version(const Json& version) {
    try {
      expect_readable(version);
      is_readable_ = true;
    } catch (const ConfigError& error) {
      fail(path_, error.diagnostics().front().message);
    } catch (const EnvironmentError& error) {
      throw EnvironmentError(fmt::format("{}: {}", path_, error.what()));
    }
  }

  void take_record(const Json& json) {
    if (!is_readable_) fail(path_, "no results of attnbench: no schema_version before its records");
    try {
      run.records.push_back(record_from_json(json));
    } catch (const ConfigError& error) {
      fail(path_, fmt::format("{}: {}", record_name(run.records.size()),
                              error.diagnostics().front().message));
    }
  }

  std::string path_;
  std::string member_;        ///< the outermost one that is being read
  bool is_readable_ = false;  ///< its schema_version was seen, and is known
};

/// Where the parser stopped, by the place it gives: "… at line 3, column 7: …".
[[noreturn]] void fail_of_syntax(const std::string& path, const Json::parse_error& error) {
  std::error_code unknown;
  const std::uintmax_t size = std::filesystem::file_size(path, unknown);
  if (!unknown && error.byte > size) {
    fail(path, "cut off: the file ends in the middle of its results");
  }
  std::string_view what = error.what();
  const std::size_t place = what.find("line ");
  if (place != std::string_view::npos) what = what.substr(place);
  fail(path, fmt::format("no JSON: {}", what));
}

/// Whether the file begins as write_csv() begins one; afterwards it is at its beginning again.
bool is_csv(std::istream& file) {
  const std::string names = csv_columns()[0]->column + ',' + csv_columns()[1]->column + ',';
  std::string beginning(names.size(), '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  file.clear();
  file.seekg(0);
  return beginning == names;
}

/// What is impossible of a time; empty when it is possible. A cell that was not timed has zeros.
std::string impossible_time(const CellTiming& timing) {
  for (const double us : {timing.median_us, timing.lo_us, timing.hi_us, timing.min_us}) {
    if (!(us >= 0)) return fmt::format("a time of {} us", us);
  }
  if (timing.lo_us > timing.hi_us) {
    return fmt::format("an interval from {} to {} us", timing.lo_us, timing.hi_us);
  }
  const bool has_interval = timing.hi_us > 0;
  if (has_interval && (timing.median_us < timing.lo_us || timing.median_us > timing.hi_us)) {
    return fmt::format("a median of {} us outside of its interval, {} to {} us", timing.median_us,
                       timing.lo_us, timing.hi_us);
  }
  if (timing.samples < 0 || timing.rounds < 0) return "a negative count";
  return {};
}

/// A figure that no run writes is a damaged or edited file.
void expect_possible_times(const std::string& path, const std::vector<Record>& records) {
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::string wrong = impossible_time(records[i].timing);
    if (!wrong.empty()) fail(path, fmt::format("{} has {}", record_name(i), wrong));
  }
}

/// No cell may stand in a file twice: nobody could tell which of the two is meant.
void expect_distinct_cells(const std::string& path, const std::vector<Record>& records) {
  std::map<CellKey, std::size_t> seen;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const auto [first, is_new] = seen.emplace(CellKey(records[i]), i);
    if (is_new) continue;
    fail(path, fmt::format("{} and {} are of one cell: {}", record_name(first->second),
                           record_name(i), to_string(first->first)));
  }
}

RunResult read_json(const std::string& path, std::istream& file) {
  ResultParser parser(path);
  try {
    const Json root = Json::parse(file, [&](int depth, Json::parse_event_t event, Json& parsed) {
      return parser(depth, event, parsed);
    });
    for (const std::string_view member : {"schema_version", "records"}) {
      if (!root.contains(member))
        fail(path, fmt::format("no results of attnbench: {} is missing", member));
    }
    try {
      RunResult run = run_from_json(root);
      run.records = std::move(parser.run.records);
      return run;
    } catch (const ConfigError& error) {
      fail(path, error.diagnostics().front().message);
    }
  } catch (const Json::parse_error& error) {
    fail_of_syntax(path, error);
  } catch (const Json::exception& error) {
    fail(path, fmt::format("no results of attnbench: {}", error.what()));
  }
}

}  // namespace

RunResult read_results(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::error_code ignored;
  if (!file || std::filesystem::is_directory(path, ignored)) {
    const int reason = errno != 0 ? errno : EISDIR;
    throw ConfigError(fmt::format("cannot read {}: {}", path, std::strerror(reason)));
  }
  if (file.peek() == std::ifstream::traits_type::eof()) fail(path, "empty");
  if (is_csv(file)) {
    fail(path,
         "is CSV, which has neither the machine nor the rounds; give the JSON of `attnbench run "
         "--json FILE`");
  }
  RunResult run = is_journal(file) ? read_journal(path, file) : read_json(path, file);
  expect_distinct_cells(path, run.records);
  expect_possible_times(path, run.records);
  return run;
}

}  // namespace attnbench
