// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/terminal.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ostream>
#include <set>

#include "lib/base/printable.h"
#include "lib/measure/statistics.h"
#include "lib/result/ranking.h"
#include "lib/result/record_text.h"
#include "lib/summary/aa_report.h"
#include "lib/summary/backend_summary.h"
#include "lib/summary/brief_reason.h"
#include "lib/summary/case_facts.h"
#include "lib/summary/doubts.h"
#include "lib/summary/engine_line.h"
#include "lib/summary/model_step_section.h"
#include "lib/summary/sweep_trend.h"
#include "lib/summary/tuning_summary.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kReasonIndent = 6;
/// Of a SHA-256, as `sha256sum` begins it: 64 bits, which nobody meets by chance.
constexpr std::size_t kHashDigits = 16;

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

/// What the time of a run went to, the most first, small parts left out: "14.2 s: measuring 9.8 s
/// (1.8 s in samples),", "ceilings 2.0 s", as join_parts() takes them.
std::vector<std::string> time_parts(const RunResult& run) {
  const TimeAccount& spent = run.spent;
  std::vector<std::pair<double, std::string>> shown;
  const auto show = [&](double seconds, std::string text) {
    if (seconds >= std::max(0.05, 0.01 * run.wall_s)) shown.emplace_back(seconds, std::move(text));
  };
  show(spent.measuring(),
       fmt::format("measuring {:.1f} s ({:.1f} s in samples)", spent.measuring(), spent.samples));
  for (const TimePart& part : kTimeParts) {
    if (part.seconds == &TimeAccount::samples || part.seconds == &TimeAccount::around_samples) {
      continue;
    }
    std::string name = part.key;
    std::ranges::replace(name, '_', ' ');
    show(spent.*part.seconds, fmt::format("{} {:.1f} s", name, spent.*part.seconds));
  }
  std::ranges::stable_sort(shown, std::ranges::greater{}, &std::pair<double, std::string>::first);
  std::vector<std::string> parts;
  for (auto& [seconds, text] : shown) parts.push_back(std::move(text) + ',');
  const std::string whole = fmt::format("{:.1f} s", run.wall_s);
  if (parts.empty()) return {whole};
  parts.front() = whole + ": " + parts.front();
  parts.back().pop_back();
  return parts;
}

/// "measured 14:02 UTC", with the date where that is another than the run's. Both are ISO 8601.
std::string measured_text(const std::string& measured, const std::string& now) {
  constexpr std::size_t kDate = 10, kMinute = 16;
  const bool today = measured.substr(0, kDate) == now.substr(0, kDate);
  std::string text = measured.substr(0, kMinute);
  std::ranges::replace(text, 'T', ' ');
  return "measured " + (today && text.size() > kDate ? text.substr(kDate + 1) : text) + " UTC";
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kPlain = "\x1b[0m";

/// ANSI colour of a verdict: green right, yellow doubtful, red wrong, dim not tried.
std::string_view colour_of(const Record& r) {
  if (r.has_failed()) return "\x1b[1;31m";
  if (r.verdict() == Verdict::kPassed) return "\x1b[32m";
  if (r.verdict() == Verdict::kMistrusted) return "\x1b[33m";
  return kDim;
}

/// Of a column's text: the verdict's colour, and bold for the best of a case. Empty: none.
std::string_view colour_in(const TerminalColumn& column, const Record& r, const Ranking& s) {
  using Subject = TerminalColumn::Subject;
  if (column.subject == Subject::kVerdict) return colour_of(r);
  if (column.subject == Subject::kRankingOrVerdict && !s.exists()) return colour_of(r);
  return column.subject != Subject::kFigure && s.is_best() ? kBold : "";
}

/// The text without the spaces around it in `colour`.
std::string coloured(std::string text, std::string_view colour) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (colour.empty() || begin == std::string::npos) return text;
  text.insert(text.find_last_not_of(" \n") + 1, kPlain);
  return text.insert(begin, colour);
}

int multiprocessors_of(const RunResult& run) {
  for (const DeviceRates& rates : run.devices) {
    if (rates.device.kind == DeviceKind::kCuda) return rates.device.units;
  }
  return kDefaultSmCount;
}

/// Whether the row's reason is printed: a star says enough of a figure that is noisy.
bool shows_reason(const Record& r) {
  const bool says_all = r.claims_speed() && r.verdict() != Verdict::kMistrusted &&
                        (!is_open(r) || ran_out_of_time(r));
  return !r.reason().empty() && !says_all;
}

bool has_no_interval(const Record& r) { return r.claims_speed() && !has_interval(r); }

/// "a GPU takes part: cpu_flash and torch_native run only …".
std::string cpu_fallbacks_text(const RunResult& header) {
  return fmt::format(
      "a GPU takes part: without --backend, {} run only the cases that no GPU backend supports",
      fmt::join(header.cpu_fallbacks, ", "));
}

}  // namespace

TerminalReport::TerminalReport(std::ostream& out, TerminalOptions options)
    : out_(out), options_(options) {}

void TerminalReport::make_room_for_names() {
  for (const Record& record : records_) {
    if (!options_.wide && was_not_run(record)) continue;
    name_width_ = std::clamp(display_width(record.backend), name_width_, kMostNameWidth);
  }
  columns_ =
      terminal_columns(ceilings_, gpu_, options_.wide, options_.width, name_width_, several_modes_);
}

void TerminalReport::started(const RunResult& header, const Scenario& scenario) {
  gpu_ = std::ranges::any_of(header.devices, [](const DeviceRates& rates) {
    return rates.device.kind == DeviceKind::kCuda;
  });
  ceilings_ = header.ceilings;
  several_modes_ = scenario.measure.cache.size() * scenario.measure.launch.size() > 1;
  make_room_for_names();
  const Environment& e = header.environment;
  last_level_cache_bytes_ = e.device.last_level_cache_bytes;
  multiprocessors_ = multiprocessors_of(header);
  capability_ = capability_of(header);
  precision_ = scenario.measure.max_rounds < kFewestRounds ? 0 : scenario.measure.precision;
  if (options_.quiet) return;
  std::set<std::string> mixes;
  for (const Case& c : scenario.cases) mixes.insert(c.mix);
  const std::string first[] = {
      fmt::format("attnbench {} ({})   {}   {}", e.version, e.git_sha, scenario_names(header),
                  mixes.size() == 1 ? "1 mix" : fmt::format("{} mixes", mixes.size())),
      counted(scenario.cases.size(), "case"), fmt::format("seed {}", scenario.seed)};
  std::string method = fmt::format(
      "{} cache, {}{}, median of rounds · ±: half of the 95 % interval, *: above {:g} %",
      listed(scenario.measure.cache), listed(scenario.measure.launch),
      scenario.measure.launch.size() > 1 ? " (/g)" : "", scenario.measure.precision * 100);
  if (std::ranges::count(scenario.measure.cache, CacheState::kServing) > 0) {
    method += " · serv: the cache is flushed, then queries, index arrays and plan are read";
  }
  out_ << join_parts(first, options_.width, 2) << '\n';
  for (const DeviceRates& rates : header.devices) {
    const std::string machine[] = {
        rates.device.name,
        rates.device.arch,
        counted(static_cast<std::size_t>(std::max(rates.device.units, 0)),
                rates.device.kind == DeviceKind::kCuda ? "SM" : "thread"),
        "read " + si_text(rates.ceilings.read_bytes_per_s, "B/s"),
        "copy " + si_text(rates.ceilings.copy_bytes_per_s, "B/s"),
        si_text(rates.ceilings.flop_per_s, "FLOP/s"),
        rates.ceilings_utc.empty() ? "" : measured_text(rates.ceilings_utc, e.started_utc)};
    out_ << join_parts(machine, options_.width, 2) << '\n';
  }
  for (const std::string& each : header.environments) out_ << wrapped(each, options_.width, 2);
  out_ << wrapped(method, options_.width, 0);
  out_ << wrapped(column_legends(columns_), options_.width, 0);
  if (!header.cpu_fallbacks.empty()) out_ << wrapped(cpu_fallbacks_text(header), options_.width, 0);
}

void TerminalReport::case_started(const Case& c, const Cost& cost) {
  records_.clear();
  layout_ = c.kv_cache.layout;
  if (options_.quiet) return;
  const std::vector<std::string> facts =
      case_facts(c, cost, multiprocessors_, last_level_cache_bytes_);
  out_ << '\n' << join_parts(facts, options_.width, 4) << '\n';
  if (c.model_note.empty()) return;
  const std::string note = fmt::format("note: {}: {}", c.model, c.model_note);
  if (notes_.insert(note).second) out_ << wrapped(note, options_.width, 2);
}

std::string TerminalReport::row(const Record& record, const Ranking& ranking, bool colour) const {
  std::string line;
  for (const TerminalColumn& column : columns_) {
    line += std::string(column.gap, ' ');
    const std::string text = padded(column.text(record, ranking), column.width, column.align);
    line += coloured(text, colour ? colour_in(column, record, ranking) : "");
  }
  return without_trailing_spaces(line);
}

void TerminalReport::record(const Record& record) {
  if (!options_.quiet) records_.push_back(record);
}

bool TerminalReport::is_cut(const Record& record) const {
  return !options_.wide && record.verdict() == Verdict::kIncorrect &&
         (has_brief_reason(record) ||
          kReasonIndent + display_width(printable(record.reason())) > options_.width);
}

void TerminalReport::print(const Record& record, const Ranking& ranking) {
  std::string line = row(record, ranking, options_.colour);
  if (shows_reason(record)) {
    const std::size_t plain_width = display_width(row(record, ranking, false));
    const std::string reason = printable(record.reason());
    const bool one_line = reason.find('\n') == std::string::npos;
    const bool beside = record.error.rows == 0 && !options_.wide && !record.has_failed() &&
                        one_line && plain_width + 2 + display_width(reason) <= options_.width;
    if (beside) {
      line += ": " + reason + '\n';
    } else if (is_cut(record)) {
      const std::string brief = printable(brief_reason(record));
      const std::size_t room = options_.width - std::min(options_.width, kReasonIndent);
      line += '\n' + std::string(kReasonIndent, ' ') + cut_to_width(brief, room) + '\n';
    } else {
      line += '\n' + wrapped(record.reason(), options_.width, kReasonIndent);
    }
  } else {
    line += '\n';
  }
  out_ << line;
  // What the case's line has not said already.
  const KvLayout layout = record.kv_cache.layout.value_or(KvLayout::kNhd);
  if (!layout_ && record.is_timed() && layout != KvLayout::kNhd) {
    out_ << wrapped(fmt::format("on a {} cache", to_string(layout)), options_.width, kReasonIndent);
  }
  if (const std::string graph_n = graph_n_line(record); !graph_n.empty()) {
    out_ << wrapped(graph_n, options_.width, kReasonIndent);
  }
  // Unbroken, however long: it is meant to be pasted.
  if (record.has_failed()) {
    out_ << std::string(kReasonIndent, ' ') << printable(record.repro) << '\n';
  }
}

void TerminalReport::print_not_run() {
  const std::string text = not_run_text(records_);
  if (text.empty()) return;
  const std::string lines = wrapped("not run: " + text, options_.width, 2);
  out_ << coloured(lines, options_.colour ? kDim : "");
}

void TerminalReport::print_engines(const std::vector<Ranking>& rankings) {
  const std::string line = engine_line(records_, rankings, capability_);
  if (!line.empty()) out_ << wrapped(line, options_.width, 4);
}

void TerminalReport::case_finished(const Case&) {
  if (options_.quiet) return;
  const std::vector<Ranking> ranking = rankings(records_);
  print_engines(ranking);
  const bool any_row = !std::ranges::all_of(records_, was_not_run) || options_.wide;
  if (any_row) {
    make_room_for_names();
    std::string titles;
    for (const TerminalColumn& column : columns_) {
      titles += std::string(column.gap, ' ') + padded(column.title, column.width, column.align);
    }
    out_ << without_trailing_spaces(titles) << '\n';
  }
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (options_.wide || !was_not_run(records_[i])) print(records_[i], ranking[i]);
  }
  if (!options_.wide) print_not_run();
  const std::string first_use = first_use_text(records_);
  if (!first_use.empty()) out_ << wrapped("first use: " + first_use, options_.width, 2);
  const auto indexed = std::ranges::find_if(records_, has_index_timing);
  if (indexed != records_.end()) {
    out_ << "  index arrays: " << index_text(indexed->index) << '\n';
  }
  records_.clear();
  out_.flush();
}

void TerminalReport::print_legends(const RunResult& run) {
  const auto print_if_any = [&](const char* legend, const auto& applies) {
    if (std::ranges::any_of(run.records, applies)) out_ << wrapped(legend, options_.width, 0);
  };
  const auto is_short = [](const Record& r) { return r.is_short && r.claims_speed(); };
  const auto has_graph_n = [](const Record& r) { return r.graph_n.tried(); };
  const auto is_forced = [](const Record& r) { return r.graph_forced && r.is_timed(); };
  const auto is_cut_here = [this](const Record& r) { return is_cut(r); };
  const auto applies = [&](const Record& r) {
    return has_no_interval(r) || is_short(r) || has_graph_n(r) || is_forced(r) || is_cut_here(r);
  };
  if (std::ranges::any_of(run.records, applies)) out_ << '\n';
  print_if_any(kNoIntervalLegend, has_no_interval);
  print_if_any(kShortLegend, is_short);
  print_if_any(kGraphNLegend, has_graph_n);
  print_if_any(kForcedLegend, is_forced);
  print_if_any(kBriefLegend, is_cut_here);
}

void TerminalReport::finished(const RunResult& run, const RunEnd& end) {
  if (!options_.quiet) {
    out_ << terminal_text(aa_report(run, options_.width), options_.width);
    print_legends(run);
    out_ << model_steps_terminal_section(run, options_.width);
    out_ << terminal_text(summary_section(run, options_.width), options_.width);
    out_ << tuning_terminal_section(run, options_.width);
    // A smoke test was not meant to converge, but its figures suffer as well.
    const std::string unsettled =
        precision_ > 0 ? convergence_advice(run, precision_) : disturbance_text(run.others);
    if (!unsettled.empty()) out_ << '\n' << wrapped(unsettled, options_.width, 0);
    const std::string sharers = sharers_text(run);
    if (!sharers.empty()) out_ << '\n' << wrapped(sharers, options_.width, 0);
    const std::string off = off_trend_text(run);
    if (!off.empty()) out_ << '\n' << wrapped(off, options_.width, 0);
  }
  std::set<std::string> ids;
  for (const Record& record : run.records) ids.insert(case_name(run, record));
  std::vector<std::string> facts = {counted(ids.size(), "case")};
  if (end.taken_over > 0) facts.push_back(fmt::format("{} taken over", end.taken_over));
  for (const std::string& part : tally_parts(run)) facts.push_back(part);
  if (run.interrupted) facts.emplace_back("interrupted");
  for (std::string& part : time_parts(run)) facts.push_back(std::move(part));
  if (!end.json_sha256.empty()) {
    facts.push_back("JSON sha256 " + end.json_sha256.substr(0, kHashDigits));
  }
  std::string text = join_parts(facts, options_.width, 2);
  const std::string exit = fmt::format("exit {}", end.exit_code);
  const std::size_t used = display_width(std::string_view(text).substr(text.rfind('\n') + 1));
  if (used + 2 + exit.size() <= options_.width) {
    text += fit_right(exit, options_.width - used);
  } else {
    text += '\n' + fit_right(exit, options_.width);
  }
  if (const std::string answer = answer_text(run); !answer.empty()) {
    text.insert(0, wrapped(answer, options_.width, 0));
  }
  out_ << (options_.quiet ? "" : "\n") << text << '\n';
}

}  // namespace attnbench
