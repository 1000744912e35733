// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/terminal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "lib/base/printable.h"
#include "lib/report/aa_section.h"
#include "lib/report/record_text.h"
#include "lib/report/text_layout.h"
#include "lib/report/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kReasonIndent = 6;

std::string counted(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// "cold", "cold and warm", "cold, warm and serving".
template <class Value>
std::string listed(const std::vector<Value>& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) text += i + 1 == values.size() ? " and " : ", ";
    text += to_string(values[i]);
  }
  return text;
}

std::string padded(std::string_view text, std::size_t width, TerminalColumn::Align align) {
  const std::string shown = printable(text);
  return align == TerminalColumn::Align::kLeft ? fit_left(shown, width) : fit_right(shown, width);
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// ANSI colour of a verdict: green right, yellow doubtful, red wrong, dim not tried.
std::string_view colour_of(const Record& r) {
  if (r.has_failed()) return "\x1b[1;31m";
  if (r.verdict() == Verdict::kPassed) return "\x1b[32m";
  if (r.verdict() == Verdict::kMistrusted) return "\x1b[33m";
  return "\x1b[2m";
}

/// Tokens on shared prefixes' whole pages that at least two requests lean on.
std::int64_t shared_tokens(const Case& c) {
  std::int64_t tokens = 0;
  for (std::size_t p = 0; p < c.prefixes.size(); ++p) {
    const auto users = std::ranges::count(c.requests, static_cast<int>(p), &Request::shared_prefix);
    if (users > 1) tokens += whole_pages(c.prefixes[p].length, c.kv_cache.page_size);
  }
  return tokens;
}

int multiprocessors_of(const RunResult& run) {
  for (const DeviceRates& rates : run.devices) {
    if (rates.device.kind == DeviceKind::kCuda) return rates.device.units;
  }
  return kUsualMultiprocessors;
}

/// "use_cascade yes": whether vLLM would; empty where nothing is shared.
std::string cascade_text(const Case& c, int multiprocessors) {
  const std::string answer = choose_cascade(c, multiprocessors).answer;
  return answer == "-" ? "" : "use_cascade " + answer;
}

/// "graph of 64 (31 padding)": what a CUDA graph computes where it is larger than the batch.
std::string graph_text(const Case& c) {
  const auto requests = static_cast<std::int64_t>(c.requests.size());
  if (c.graph_bucket <= requests) return "";
  return fmt::format("graph of {} ({} padding)", c.graph_bucket, c.graph_bucket - requests);
}

/// The part of the step that is run, where it is not attention alone.
std::string step_text(StepPart step) {
  switch (step) {
    case StepPart::kAttention:
      return "";
    case StepPart::kKvWrite:
      return "KV write alone";
    case StepPart::kBoth:
      return "KV write, then attention";
  }
  return "";
}

/// The unusual properties of a case's layer and cache: "tp 8 window 1024 sinks HND".
std::string layer_text(const Case& c) {
  std::vector<std::string> facts;
  const AttentionLayer& layer = c.layer;
  if (layer.is_recurrent()) facts.emplace_back("gated delta net");
  if (c.tp > 1) facts.push_back(fmt::format("tp {}", c.tp));
  if (layer.sliding_window_size >= 0) {
    facts.push_back(fmt::format("window {}", layer.sliding_window_size + 1));
  }
  if (layer.has_sinks) facts.emplace_back("sinks");
  if (layer.has_alibi) facts.emplace_back("ALiBi");
  if (layer.logit_cap > 0) facts.push_back(fmt::format("softcap {:g}", layer.logit_cap));
  if (c.kv_cache.layout.value_or(KvLayout::kNhd) != KvLayout::kNhd) {
    facts.emplace_back(to_string(*c.kv_cache.layout));
  }
  if (c.kv_cache.scales != KvScales::kTensor) {
    facts.push_back(fmt::format("scales by {}", to_string(c.kv_cache.scales)));
  }
  if (c.kv_cache.placement != Placement::kShuffled) {
    facts.emplace_back(to_string(c.kv_cache.placement));
  }
  return fmt::format("{}", fmt::join(facts, " "));
}

/// Whether the row's reason is printed: a star and the status already say that a passed cell is
/// noisy, but not why there is no interval.
bool shows_reason(const Record& r) {
  const bool says_all = r.claims_speed() && has_interval(r) && r.verdict() != Verdict::kMistrusted;
  return !r.reason().empty() && !says_all;
}

}  // namespace

TerminalReport::TerminalReport(std::ostream& out, TerminalOptions options)
    : out_(out),
      options_(options),
      columns_(terminal_columns({}, false, options.wide, options.width)) {}

void TerminalReport::started(const RunResult& header, const Scenario& scenario) {
  const bool gpu = std::ranges::any_of(header.devices, [](const DeviceRates& rates) {
    return rates.device.kind == DeviceKind::kCuda;
  });
  columns_ = terminal_columns(header.ceilings, gpu, options_.wide, options_.width);
  const Environment& e = header.environment;
  last_level_cache_bytes_ = e.device.last_level_cache_bytes;
  multiprocessors_ = multiprocessors_of(header);
  if (options_.quiet) return;
  std::set<std::string> mixes;
  for (const Case& c : scenario.cases) mixes.insert(c.mix);
  const std::string first[] = {
      fmt::format("attnbench {} ({})   {}   {}", e.version, e.git_sha, scenario_names(header),
                  mixes.size() == 1 ? "1 mix" : fmt::format("{} mixes", mixes.size())),
      counted(scenario.cases.size(), "case"), fmt::format("seed {}", scenario.seed)};
  const std::string method = fmt::format(
      "{} cache, {}{}, median of rounds; ± is the 95 % CI half-width, * above {:g} %",
      listed(scenario.measure.cache), listed(scenario.measure.launch),
      scenario.measure.launch.size() > 1 ? " (/g)" : "", scenario.measure.precision * 100);
  out_ << join_parts(first, options_.width, 2) << '\n';
  for (const DeviceRates& rates : header.devices) {
    const std::string machine[] = {
        rates.device.name,
        rates.device.arch,
        counted(static_cast<std::size_t>(std::max(rates.device.units, 0)),
                rates.device.kind == DeviceKind::kCuda ? "SM" : "thread"),
        "read " + si_text(rates.ceilings.read_bytes_per_s, "B/s"),
        "copy " + si_text(rates.ceilings.copy_bytes_per_s, "B/s"),
        si_text(rates.ceilings.flop_per_s, "FLOP/s")};
    out_ << join_parts(machine, options_.width, 2) << '\n';
  }
  out_ << wrapped(method, options_.width, 0);
  std::set<std::string> notes;
  for (const Case& c : scenario.cases) {
    if (c.model_note.empty()) continue;
    const std::string note = fmt::format("note: {}: {}", c.model, c.model_note);
    if (notes.insert(note).second) out_ << wrapped(note, options_.width, 0);
  }
}

void TerminalReport::case_started(const Case& c, const Cost& cost) {
  untimed_.clear();
  index_ = {};
  layout_ = c.kv_cache.layout;
  if (options_.quiet) return;
  const std::int64_t shared = shared_tokens(c);
  const std::string facts[] = {
      fmt::format("{}    {}", c.id, counted(c.requests.size(), "seq")),
      step_text(c.step),
      fmt::format("{} q token{}", count_text(c.q_tokens()), c.q_tokens() == 1 ? "" : "s"),
      count_text(c.kv_tokens()) + " kv" +
          (shared > 0 ? fmt::format(" ({} shared)", count_text(shared)) : ""),
      layer_text(c),
      bytes_text(cost.bytes_unique) + " unique",
      si_text(static_cast<double>(cost.flops), "FLOP"),
      cascade_text(c, multiprocessors_),
      graph_text(c),
      cost.bytes_unique <= last_level_cache_bytes_ ? "fits the last-level cache" : ""};
  std::string titles;
  for (const TerminalColumn& column : columns_) {
    titles += std::string(column.gap, ' ') + padded(column.title, column.width, column.align);
  }
  out_ << '\n'
       << join_parts(facts, options_.width, 4) << '\n'
       << without_trailing_spaces(titles) << '\n';
}

std::string TerminalReport::row(const Record& record, bool colour) const {
  std::string line;
  for (const TerminalColumn& column : columns_) {
    line += std::string(column.gap, ' ');
    std::string text = padded(column.text(record), column.width, column.align);
    if (column.is_verdict && colour) {
      const std::size_t end = text.find_last_not_of(' ') + 1;
      text.insert(end, "\x1b[0m");
      text.insert(0, colour_of(record));
    }
    line += text;
  }
  return without_trailing_spaces(line);
}

void TerminalReport::record(const Record& record) {
  if (options_.quiet) return;
  if (has_index_timing(record)) index_ = record.index;
  // A backend that does not take the case says so once, not once per cache state.
  const std::string said = record.is_timed() ? "" : record.backend + '\n' + record.reason();
  if (!record.is_timed() && said == untimed_ && !options_.wide) return;
  untimed_ = said;
  std::string line = row(record, options_.colour);
  if (shows_reason(record)) {
    const std::size_t plain_width = display_width(row(record, false));
    const std::string reason = printable(record.reason());
    const bool one_line = reason.find('\n') == std::string::npos;
    const bool beside = record.error.rows == 0 && !options_.wide && !record.has_failed() &&
                        one_line && plain_width + 2 + display_width(reason) <= options_.width;
    if (beside) {
      line += ": " + reason + '\n';
    } else {
      line += '\n' + wrapped(record.reason(), options_.width, kReasonIndent);
    }
  } else {
    line += '\n';
  }
  out_ << line;
  // What the case's line has not said already.
  const std::string& layout = record.kv_cache.layout;
  if (!layout_ && record.is_timed() && layout != to_string(KvLayout::kNhd)) {
    out_ << wrapped(fmt::format("on a {} cache", layout), options_.width, kReasonIndent);
  }
  if (const std::string graph_n = graph_n_line(record); !graph_n.empty()) {
    out_ << wrapped(graph_n, options_.width, kReasonIndent);
  }
  // Unbroken, however long: it is meant to be pasted.
  if (record.has_failed()) {
    out_ << std::string(kReasonIndent, ' ') << printable(record.repro) << '\n';
  }
}

void TerminalReport::case_finished(const Case&) {
  if (index_.host_us > 0) out_ << "  index arrays: " << index_text(index_) << '\n';
  out_.flush();
}

void TerminalReport::finished(const RunResult& run, int exit_code) {
  if (!options_.quiet) {
    out_ << aa_terminal_section(run, options_.width);
    const bool any_short = std::ranges::any_of(
        run.records, [](const Record& r) { return r.is_short && r.claims_speed(); });
    if (any_short) out_ << '\n' << wrapped(kShortLegend, options_.width, 0);
    const bool any_graph_n =
        std::ranges::any_of(run.records, [](const Record& r) { return r.graph_n.tried(); });
    if (any_graph_n) out_ << wrapped(kGraphNLegend, options_.width, 0);
    const bool any_forced = std::ranges::any_of(
        run.records, [](const Record& r) { return r.graph_forced && r.is_timed(); });
    if (any_forced) out_ << wrapped(kForcedLegend, options_.width, 0);
  }
  std::set<std::string> ids;
  for (const Record& record : run.records) ids.insert(case_name(run, record));
  std::vector<std::string> facts = {counted(ids.size(), "case")};
  for (const std::string& part : tally_parts(run)) facts.push_back(part);
  if (run.interrupted) facts.emplace_back("interrupted");
  facts.push_back(fmt::format("{:.1f} s (measuring {:.1f} s)", run.wall_s, run.measuring_s));
  std::string text = join_parts(facts, options_.width, 2);
  const std::string exit = fmt::format("exit {}", exit_code);
  const std::size_t used = display_width(std::string_view(text).substr(text.rfind('\n') + 1));
  if (used + 2 + exit.size() <= options_.width) {
    text += fit_right(exit, options_.width - used);
  } else {
    text += '\n' + fit_right(exit, options_.width);
  }
  out_ << (options_.quiet ? "" : "\n") << text << '\n';
}

}  // namespace attnbench
