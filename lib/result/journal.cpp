// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/journal.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <istream>
#include <string>
#include <string_view>
#include <utility>

#include "lib/base/error.h"
#include "lib/result/record_json.h"
#include "lib/result/run_json.h"

namespace attnbench {
namespace {

constexpr const char* kRun = "run";
constexpr const char* kRecord = "record";
constexpr const char* kFiles = "files";  // in the run
constexpr std::string_view kBeginning = "{\"run\":";

/// Whether the file ends within a line, which whatever ended the earlier run has cut off.
bool ends_in_a_line(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  file.seekg(-1, std::ios::end);
  return file && file.get() != '\n';
}

}  // namespace

Journal::Journal(const std::string& path) : path_(path) {
  const bool cut_off = ends_in_a_line(path);
  errno = 0;
  file_.open(path, std::ios::binary | std::ios::app);
  if (cut_off) file_ << '\n';
  if (!file_.flush()) {
    throw EnvironmentError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
}

void Journal::start(const RunResult& header, const std::vector<JournalFile>& files) {
  Json run = run_json(header);
  run[kFiles] = Json::array();
  for (const JournalFile& file : files) {
    run[kFiles].push_back({{"option", file.option}, {"path", file.path}});
  }
  write_line(kRun, std::move(run));
}

void Journal::add(const Record& record) { write_line(kRecord, record_json(record)); }

void Journal::write_line(const char* kind, Json json) {
  errno = 0;
  file_ << json_line({{kind, std::move(json)}}) << '\n';
  if (!file_.flush()) {
    throw EnvironmentError(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
  }
}

bool is_journal(std::istream& file) {
  std::string beginning(kBeginning.size(), '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  file.clear();
  file.seekg(0);
  return beginning == kBeginning;
}

std::vector<JournalFile> files_of_journal(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  if (!file || !is_journal(file) || !std::getline(file, text)) return {};
  const Json line = Json::parse(text, nullptr, false);
  if (line.is_discarded() || !line.at(kRun).is_object()) return {};
  std::vector<JournalFile> files;
  for (const Json& each : line.at(kRun).value(kFiles, Json::array())) {
    if (!each.is_object()) return {};
    files.push_back({each.value("option", ""), each.value("path", "")});
  }
  return files;
}

RunResult read_journal(const std::string& path, std::istream& file) {
  RunResult all;
  bool begun = false;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    const auto fail = [&](const std::string& message) {
      return ConfigError({Diagnostic{{path, number, 1}, 1, message, {}, {}}});
    };
    const Json line = Json::parse(text, nullptr, false);
    if (line.is_discarded()) continue;  // cut off; a run that went on began a new line behind it
    try {
      if (!line.is_object() || line.size() != 1) throw fail("no line of a journal");
      const auto member = line.begin();
      const std::string& kind = member.key();
      const Json& value = member.value();
      if (kind == kRun) {
        expect_readable(value.value("schema_version", Json()));
        begun = true;
        append(all, run_from_json(value));
      } else if (kind == kRecord && begun) {
        all.records.push_back(record_from_json(value));
      } else {
        throw fail(fmt::format("no line of a journal: '{}'", kind));
      }
    } catch (const ConfigError& error) {
      throw fail(error.diagnostics().front().message);
    } catch (const EnvironmentError& error) {
      throw EnvironmentError(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  return all;
}

}  // namespace attnbench
