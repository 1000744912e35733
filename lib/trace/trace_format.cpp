// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/trace_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/word_hints.h"

namespace attnbench {
namespace {

constexpr TraceFormat kTraceFormats[] = {
    {"azure", "TIMESTAMP", "ContextTokens", "GeneratedTokens",
     "AzureLLMInferenceTrace_*.csv of the Azure Public Dataset"},
    {"burstgpt", "Timestamp", "Request tokens", "Response tokens", "BurstGPT_*.csv of BurstGPT"},
    {"mooncake", "", "", "", "*_trace.jsonl of Mooncake"},
    {"plain", "arrival_s", "input_tokens", "output_tokens", "a CSV of one's own"},
};

/// Column names of a header, without blanks and quotes around them.
std::vector<std::string_view> header_words(std::string_view line) {
  constexpr std::string_view kAround = " \t\r\"";
  std::vector<std::string_view> words;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find(',', begin), line.size());
    std::string_view word = line.substr(begin, end - begin);
    word.remove_prefix(std::min(word.find_first_not_of(kAround), word.size()));
    words.push_back(word.substr(0, word.find_last_not_of(kAround) + 1));
    begin = end + 1;
  }
  return words;
}

}  // namespace

std::span<const TraceFormat> trace_formats() { return kTraceFormats; }

const TraceFormat& trace_format_named(std::string_view name) {
  std::vector<std::string_view> names;
  for (const TraceFormat& format : kTraceFormats) {
    if (format.name == name) return format;
    names.push_back(format.name);
  }
  throw ConfigError({Diagnostic{{},
                                1,
                                fmt::format("--format: unknown format '{}'", name),
                                allowed_words_hint(names, name),
                                {}}});
}

const TraceFormat* format_of_first_line(std::string_view line) {
  if (line.starts_with("\xef\xbb\xbf")) line.remove_prefix(3);  // a byte order mark
  const std::vector<std::string_view> words = header_words(line);
  const auto has = [&](std::string_view word) {
    return std::ranges::find(words, word) != words.end();
  };
  for (const TraceFormat& format : kTraceFormats) {
    const bool found = format.arrival.empty()
                           ? line.starts_with('{')
                           : has(format.arrival) && has(format.input) && has(format.output);
    if (found) return &format;
  }
  return nullptr;
}

std::string known_trace_formats() {
  std::string text;
  for (const TraceFormat& format : kTraceFormats) {
    text += fmt::format("{}{:<8}  {}", text.empty() ? "" : "\n   ", format.name,
                        format.arrival.empty()
                            ? std::string("{\"timestamp\": ms, \"input_length\": n, "
                                          "\"output_length\": n, \"hash_ids\": [...]}")
                            : fmt::format("{},{},{}", format.arrival, format.input, format.output));
  }
  return text;
}

}  // namespace attnbench
