// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/run_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/printable.h"
#include "lib/base/system.h"
#include "lib/result/result_file.h"
#include "lib/result/result_reader.h"
#include "lib/result/run_difference.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

/// A file, or the name of one that is not there yet.
bool becomes_file(const OutputFile& output) {
  std::error_code ignored;
  return output.path != "-" && (!fs::exists(output.path, ignored) || is_file(output.path));
}

/// Beside the JSON; without one, beside the first output that is a file; empty: there is none.
std::string journal_beside(const std::vector<OutputFile>& outputs) {
  const OutputFile* first = nullptr;
  for (const OutputFile& output : outputs) {
    if (!becomes_file(output)) continue;
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
  throw ConfigError(
      fmt::format("{} holds {} results of a run that was cut off\n"
                  "   --resume {} goes on with that run; without the file a new one begins",
                  journal, records, journal.substr(0, journal.size() - kPartial.size())));
}

/// A file of a name of its own is JSON, as --json may call it anything.
bool holds_results(const JournalFile& file) {
  if (file.option == "--json") return true;
  constexpr std::string_view kOthers[] = {".gbench.json", ".csv", ".md", ".xml"};
  return file.option == "-o" && std::ranges::none_of(kOthers, [&](std::string_view ending) {
           return file.path.ends_with(ending);
         });
}

/// A journal in the same folder whose run writes this file; empty: there is none.
std::string journal_that_names(const std::string& path) {
  const fs::path folder = fs::path(link_target(path)).parent_path();
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, none)) {
    const std::string journal = entry.path().string();
    if (!journal.ends_with(kPartial) || !is_file(journal)) continue;
    for (const JournalFile& file : files_of_journal(journal)) {
      if (same_file(file.path, path)) return journal;
    }
  }
  return {};
}

ResumedRun by_journal(const std::string& asked, const std::string& journal) {
  ResumedRun run{asked, {}, journal, files_of_journal(journal)};
  if (run.files.empty()) run.files = {{"-o", asked}};  // of an earlier version
  const auto json = std::ranges::find_if(run.files, holds_results);
  if (json != run.files.end()) run.results = json->path;
  return run;
}

/// Whether `file` is what the path names now: the run that had it before removes it at its end.
bool is_file_at(const std::string& path, int file) {
  struct stat open_one {
  }, named{};
  return fstat(file, &open_one) == 0 && stat(path.c_str(), &named) == 0 &&
         open_one.st_ino == named.st_ino && open_one.st_dev == named.st_dev;
}

}  // namespace

RunJournal::RunJournal(const std::vector<OutputFile>& outputs,
                       const std::optional<ResumedRun>& resumed)
    : journal_path_(journal_beside(outputs)) {
  if (resumed && is_file(resumed->journal)) journal_path_ = resumed->journal;
  if (!journal_path_.empty()) lock_.emplace(journal_path_);
  for (const OutputFile& output : outputs) {
    if (becomes_file(output)) files_.push_back({output.option, lasting_path(output.path)});
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

RunJournal::~RunJournal() {
  journal_.reset();
  std::error_code ignored;  // nothing was begun
  if (!journal_path_.empty() && !holds_something(journal_path_)) fs::remove(journal_path_, ignored);
}

void RunJournal::start(const RunResult& header) {
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

std::vector<Record> RunJournal::finished(const Scenario& scenario, const Case& c,
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

void RunJournal::add(const Record& record, std::ostream& err) {
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

void RunJournal::add_rest(RunResult& result) const {
  std::set<CellKey> here;
  for (const Record& record : result.records) here.insert(CellKey(record));
  RunResult rest = earlier_;
  std::erase_if(rest.records, [&](const Record& r) { return here.contains(CellKey(r)); });
  rest.interrupted = false;
  if (!rest.scenarios.empty()) append(result, std::move(rest));
}

void RunJournal::drop() {
  journal_.reset();
  std::error_code ignored;
  if (!journal_path_.empty()) fs::remove(journal_path_, ignored);
}

std::string journal_of(const std::string& path) {
  return link_target(path) + std::string(kPartial);
}

ResumedRun find_resumed(const std::string& asked) {
  if (is_file(journal_of(asked))) return by_journal(asked, journal_of(asked));
  const bool is_json = holds_results({"-o", asked});
  if (is_json && is_file(asked)) return {asked, asked, journal_of(asked), {{"--json", asked}}};
  if (const std::string journal = journal_that_names(asked); !journal.empty()) {
    return by_journal(asked, journal);
  }
  const std::string json = fs::path(asked).replace_extension(".json").string();
  if (!is_json && is_file(json)) {
    return {asked, json, journal_of(json), {{"--json", json}, {"-o", asked}}};
  }
  throw ConfigError(
      fmt::format("--resume {}: there is neither {} nor a journal of a run that writes "
                  "it ({})",
                  asked, is_json ? "this file" : json, journal_of(asked)));
}

JournalLock::JournalLock(const std::string& path) {
  constexpr mode_t kMode = 0666;  // less the umask, as of any file
  while (true) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
    if (file_ < 0) return;  // the journal itself says why it cannot be written
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const bool is_held = errno == EWOULDBLOCK;
      close(file_);
      file_ = -1;
      if (!is_held) return;
      throw ConfigError(
          fmt::format("{} belongs to a run that still goes on\n"
                      "   two runs cannot write the same results: give this one another file",
                      path));
    }
    if (is_file_at(path, file_)) return;
    close(file_);
  }
}

JournalLock::~JournalLock() {
  if (file_ >= 0) close(file_);
}

}  // namespace attnbench
