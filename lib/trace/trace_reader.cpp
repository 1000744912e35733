// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/trace_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "lib/base/error.h"
#include "lib/trace/row_readers.h"
#include "lib/trace/trace_format.h"

namespace attnbench {
namespace {

/// Logs of millions of requests are not read at once, so read_regular_file() does not serve.
std::ifstream open_trace(const std::string& path) {
  std::error_code ignored;
  // Before it is opened: a pipe without a writer would wait for one.
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw ConfigError(fmt::format("{} is no regular file", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw ConfigError(
        fmt::format("cannot read {}: {}", path, std::generic_category().message(errno)));
  }
  return file;
}

std::string first_line_of(std::ifstream& file) {
  constexpr std::size_t kMost = 4096;  // a file of another kind may have no second line
  std::string line(kMost, '\0');
  file.read(line.data(), kMost);
  line.resize(static_cast<std::size_t>(file.gcount()));
  file.clear();
  file.seekg(0);
  return line.substr(0, line.find('\n'));
}

const TraceFormat& format_of(std::ifstream& file, const std::string& path) {
  const std::string line = first_line_of(file);
  if (const TraceFormat* format = format_of_first_line(line)) return *format;
  constexpr std::size_t kShown = 60;
  throw ConfigError(
      {Diagnostic{{},
                  1,
                  fmt::format("{}:1: a trace of no known kind begins with '{}{}'", path,
                              line.substr(0, kShown), line.size() > kShown ? "…" : ""),
                  "known first lines, which --format chooses among:\n   " + known_trace_formats(),
                  {}}});
}

/// What a trace without a good row, or one that may have no bad row, ends with.
[[noreturn]] void refuse_rows(const Trace& trace, const std::string& what) {
  std::vector<Diagnostic> told;
  for (const std::string& fault : trace.faults.first) told.push_back({{}, 1, fault, {}, {}});
  told.push_back({{}, 1, what, {}, {}});
  throw ConfigError(std::move(told));
}

}  // namespace

Trace read_trace(const std::string& path, const TraceOptions& options) {
  const TraceFormat* named = options.format.empty() ? nullptr : &trace_format_named(options.format);
  std::ifstream file = open_trace(path);
  const TraceFormat& format = named != nullptr ? *named : format_of(file, path);
  Trace trace;
  trace.file = path;
  trace.format = format.name;
  (format.arrival.empty() ? read_json_rows : read_csv_rows)(file, format, trace);
  if (file.bad()) throw EnvironmentError(fmt::format("{}: cannot be read to its end", path));
  if (options.strict && trace.faults.count > 0) {
    refuse_rows(trace, fmt::format("--strict: {} of {} rows are malformed", trace.faults.count,
                                   trace.faults.count + trace.requests.size() + trace.unanswered));
  }
  if (trace.requests.empty()) refuse_rows(trace, fmt::format("{}: no request in it", path));
  std::ranges::stable_sort(trace.requests, {}, &TracedRequest::arrival_s);
  const double first = trace.requests.front().arrival_s;
  for (TracedRequest& request : trace.requests) request.arrival_s -= first;
  return trace;
}

}  // namespace attnbench
