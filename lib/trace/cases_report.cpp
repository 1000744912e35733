// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/cases_report.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <ostream>
#include <vector>

#include "lib/base/printable.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// "4k" for 4096, which both kinds of batch take.
std::string size_of(std::int64_t tokens) {
  return tokens % 1024 == 0 ? fmt::format("{}k", tokens / 1024) : std::to_string(tokens);
}

/// Its place among the cases, and what is in it: "2_decode12_prefill800".
std::vector<std::string> names_of(const TraceCases& all) {
  std::vector<std::string> names;
  for (const TraceCase& one : all.cases) {
    std::string name = fmt::format("s{}", names.size() + 1);
    if (one.decodes > 0) name += fmt::format("_decode{}", one.decodes);
    if (one.prefill_tokens > 0) name += fmt::format("_prefill{}", one.prefill_tokens);
    names.push_back(name);
  }
  return names;
}

std::string share_text(double part, double whole) {
  return percent_text(whole == 0 ? 0 : part / whole);
}

std::string error_text(const TraceCases& all) {
  return fmt::format(
      "off by {} of the keys that all steps read and {} of their prefill FLOPs; "
      "a step's keys are {} off its case's on average",
      percent_text(std::abs(all.keys_error)), percent_text(std::abs(all.pairs_error)),
      percent_text(all.keys_apart));
}

/// The name of a file as a comment may hold it: on one line.
std::string name_in_comment(const std::string& path) {
  std::string name = printable(std::filesystem::path(path).filename().string());
  for (char& c : name) {
    if (c == '\n' || c == '\t') c = ' ';
  }
  return name;
}

}  // namespace

std::string batch_string_of(const TraceCase& one) {
  std::string text;
  for (const CaseRequests& group : one.requests) {
    text += fmt::format("{}{}q{}s{}", text.empty() ? "" : "_",
                        group.count == 1 ? "" : std::to_string(group.count),
                        size_of(group.new_tokens), size_of(group.kv_len));
  }
  return text;
}

void write_cases_scenario(const Trace& trace, const TraceCases& all, const std::string& model,
                          std::ostream& out) {
  out << fmt::format(
      "# {} of {} ({}), as `attnbench trace cases` clustered them. {}\n"
      "# are {}.\n"
      "# Lengths are rounded. Each request has its prefix for itself. A weight is a number of "
      "steps.\n",
      counted(all.steps, "step"), name_in_comment(trace.file),
      counted(trace.requests.size(), "request"), counted(all.cases.size(), "case"),
      error_text(all));
  out << fmt::format("defaults: {{model: {}, kv_cache: {{page_size: 16}}}}\nmixes:\n", model);
  const std::vector<std::string> names = names_of(all);
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    const TraceCase& one = all.cases[i];
    out << fmt::format(
        "  # weight {}: {} of the steps, {} of their keys, {} of their prefill FLOPs; the step at "
        "{:.3f} s\n  {}: {{batch: {}}}\n",
        one.weight, share_text(static_cast<double>(one.weight), static_cast<double>(all.steps)),
        share_text(one.steps_keys, all.keys), share_text(one.steps_pairs, all.prefill_pairs),
        one.start_s, names[i], batch_string_of(one));
  }
}

void write_cases_text(const Trace& trace, const TraceCases& all, std::ostream& out) {
  out << fmt::format("{}: {} in {}, {}\n\n", printable(trace.file), counted(all.steps, "step"),
                     counted(all.cases.size(), "case"), error_text(all));
  constexpr Column::Align kRight = Column::Align::kRight;
  Table table;
  table.columns = {{"case"},         {"weight", kRight},        {"steps", kRight},
                   {"keys", kRight}, {"prefill FLOPs", kRight}, {"keys of a step", kRight}};
  const std::vector<std::string> names = names_of(all);
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    const TraceCase& one = all.cases[i];
    table.rows.push_back(
        {{names[i], std::to_string(one.weight),
          share_text(static_cast<double>(one.weight), static_cast<double>(all.steps)),
          share_text(one.steps_keys, all.keys), share_text(one.steps_pairs, all.prefill_pairs),
          count_text(static_cast<std::int64_t>(one.keys))}});
  }
  out << terminal_text(table);
}

void write_cases_json(const Trace& trace, const TraceCases& all, std::ostream& out) {
  Json cases = Json::array();
  const std::vector<std::string> names = names_of(all);
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    const TraceCase& one = all.cases[i];
    cases.push_back({{"case", names[i]},
                     {"weight", one.weight},
                     {"start_s", one.start_s},
                     {"decodes", one.decodes},
                     {"prefill_tokens", one.prefill_tokens},
                     {"batch", batch_string_of(one)},
                     {"keys", one.keys},
                     {"prefill_pairs", one.prefill_pairs},
                     {"steps_keys", one.steps_keys},
                     {"steps_prefill_pairs", one.steps_pairs}});
  }
  const Json json = {{"file", trace.file},
                     {"requests", trace.requests.size()},
                     {"malformed_rows", trace.faults.count},
                     {"failed_requests", trace.unanswered},
                     {"steps", all.steps},
                     {"keys", all.keys},
                     {"prefill_pairs", all.prefill_pairs},
                     {"keys_error", all.keys_error},
                     {"prefill_pairs_error", all.pairs_error},
                     {"keys_apart", all.keys_apart},
                     {"cases", cases}};
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
