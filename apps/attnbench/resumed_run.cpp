// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/resumed_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "apps/attnbench/output_files.h"
#include "apps/attnbench/result_file.h"
#include "lib/base/error.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartial = ".partial";

bool is_file(const std::string& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
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

}  // namespace

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

}  // namespace attnbench
