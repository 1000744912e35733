// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/kept_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "apps/attnbench/result_file.h"
#include "lib/base/error.h"
#include "lib/base/lasting_path.h"
#include "lib/base/printable.h"
#include "lib/result/result_reader.h"
#include "lib/result/run_difference.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

bool is_file(const OutputFile& output) {
  std::error_code ignored;
  return output.path != "-" && (!fs::exists(output.path, ignored) || exists(output.path));
}

/// Beside the JSON; without one, beside the first output that is a file; empty: there is none.
std::string journal_beside(const std::vector<OutputFile>& outputs) {
  const OutputFile* first = nullptr;
  for (const OutputFile& output : outputs) {
    if (!is_file(output)) continue;
    if (output.write == write_json) return journal_of(output.path);
    if (first == nullptr) first = &output;
  }
  return first == nullptr ? std::string() : journal_of(first->path);
}

bool holds_something(const std::string& path) {
  std::error_code failed;
  const std::uintmax_t size = fs::file_size(path, failed);
  return !failed && size > 0;
}

bool was_interrupted(const Record& record) {
  return record.timing.status == MeasureStatus::kInterrupted ||
         record.graph_n.timing.status == MeasureStatus::kInterrupted;
}

[[noreturn]] void refuse_journal(const std::string& journal, std::size_t records) {
  throw ConfigError(fmt::format(
      "{} holds {} results of a run that was cut off\n"
      "   --resume {} goes on with that run; without the file a new one begins",
      journal, records, journal.substr(0, journal.size() - std::string(".partial").size())));
}

}  // namespace

KeptResults::KeptResults(const std::vector<OutputFile>& outputs,
                         const std::optional<ResumedRun>& resumed)
    : journal_path_(journal_beside(outputs)) {
  if (resumed && exists(resumed->journal)) journal_path_ = resumed->journal;
  if (!journal_path_.empty()) lock_.emplace(journal_path_);
  for (const OutputFile& output : outputs) {
    if (is_file(output)) files_.push_back({output.option, lasting_path(output.path)});
  }
  if (!resumed) {
    if (journal_path_.empty() || !holds_something(journal_path_)) return;
    const std::size_t records = read_results(journal_path_).records.size();
    if (records > 0) refuse_journal(journal_path_, records);
    std::error_code ignored;
    fs::resize_file(journal_path_, 0, ignored);
    return;
  }
  resumed_ = resumed->asked;
  for (const std::string& path : {resumed->results, journal_path_}) {
    if (!holds_something(path)) continue;
    RunResult part = read_results(path);
    std::erase_if(part.records, was_interrupted);
    append(earlier_, std::move(part));
  }
  for (const Record& record : earlier_.records) {
    in_earlier_.insert(CellKey(record));
    by_case_[record.case_id].push_back(&record);
  }
}

KeptResults::~KeptResults() {
  journal_.reset();
  std::error_code ignored;  // nothing was begun
  if (!journal_path_.empty() && !holds_something(journal_path_)) fs::remove(journal_path_, ignored);
}

void KeptResults::start(const RunResult& header) {
  if (!earlier_.scenarios.empty()) {
    for (const auto& difference :
         {machine_difference(earlier_, header), binary_difference(earlier_, header),
          plugin_difference(earlier_, header), scenario_difference(earlier_, header)}) {
      if (difference.empty()) continue;
      throw EnvironmentError(
          fmt::format("--resume {}: its results do not belong to this run: {} (there, and here)",
                      resumed_, difference));
    }
  }
  if (journal_path_.empty() || gave_up_) return;
  if (!journal_) journal_.emplace(journal_path_);
  journal_->start(header, files_);
}

std::vector<Record> KeptResults::finished(const Scenario& scenario, const Case& c,
                                          std::span<const Registry::Entry* const> backends) const {
  std::vector<Record> records;
  const auto known = by_case_.find(c.id);
  if (known == by_case_.end()) return {};
  for (const Registry::Entry* entry : backends) {
    for (const LaunchMode launch : scenario.measure.launch) {
      for (const CacheState cache : scenario.measure.cache) {
        const auto found = std::ranges::find_if(known->second, [&](const Record* r) {
          return r->scenario == scenario.name && r->step == c.step &&
                 r->backend == entry->info.name && r->launch == launch && r->cache == cache;
        });
        if (found == known->second.end()) return {};
        records.push_back(**found);
      }
    }
  }
  return records;
}

void KeptResults::add(const Record& record, std::ostream& err) {
  if (!journal_ || in_earlier_.contains(CellKey(record))) return;
  try {
    journal_->add(record);
  } catch (const EnvironmentError& error) {
    err << "note: " << printable(error.what())
        << ": what follows is kept in memory alone until the run ends\n";
    journal_.reset();
    gave_up_ = true;
  }
}

void KeptResults::add_rest(RunResult& result) const {
  std::set<CellKey> here;
  for (const Record& record : result.records) here.insert(CellKey(record));
  RunResult rest = earlier_;
  std::erase_if(rest.records, [&](const Record& r) { return here.contains(CellKey(r)); });
  rest.interrupted = false;
  if (!rest.scenarios.empty()) append(result, std::move(rest));
}

void KeptResults::drop() {
  journal_.reset();
  std::error_code ignored;
  if (!journal_path_.empty()) fs::remove(journal_path_, ignored);
}

}  // namespace attnbench
