// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/terminal_columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "lib/result/record_text.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using Text = std::function<std::string(const Record&, const Ranking&)>;
using TextOfRecord = std::function<std::string(const Record&)>;
using Align = TerminalColumn::Align;
using Subject = TerminalColumn::Subject;

Text figure(TextOfRecord text) {
  return [text = std::move(text)](const Record& r, const Ranking&) { return text(r); };
}

/// Empty unless the cell claims a speed.
Text speed(TextOfRecord text) {
  return [text = std::move(text)](const Record& r, const Ranking&) {
    return r.claims_speed() ? text(r) : std::string();
  };
}

/// Empty unless it was compared with the reference; the error of an LSE that was not is -1.
Text compared(double ErrorMetrics::*metric) {
  return [metric](const Record& r, const Ranking&) {
    return r.error.rows > 0 && r.error.*metric != -1 ? three_digits(r.error.*metric)
                                                     : std::string();
  };
}

/// A name that does not fit loses its middle: variants differ at the end, and so does the second of
/// an A/A pair. Names have no characters of more than a byte.
TerminalColumn backend_column(std::size_t width) {
  return {"backend", 2, width, Align::kLeft, figure([width](const Record& r) {
            const std::string& name = r.backend;
            if (name.size() <= width) return name;
            const std::size_t head = (width - 1) / 2, tail = width - 1 - head;
            return name.substr(0, head) + "…" + name.substr(name.size() - tail);
          })};
}

std::string median(const Record& r) {
  if (r.claims_speed()) return time_text(r.timing.median_us);
  return "–";
}

/// The star says that the interval did not reach the precision asked for.
std::string half_width(const Record& r) { return half_width_text(r) + (is_open(r) ? "*" : " "); }

/// The ratio keeps its place where a mark follows.
std::string versus_best(const Record&, const Ranking& ranking) {
  const std::string text = ranking_text(ranking);
  return text.empty() || text.find(' ') != std::string::npos ? text : text + "  ";
}

/// "passed", "passed short".
std::string verdict_and_shortness(const Record& r) {
  const bool is_short = r.is_short && r.claims_speed() && r.verdict() == Verdict::kPassed;
  return verdict_word(r) + (is_short ? " short" : "");
}

/// In the machine's unit; what is far slower than the machine has no digits there.
std::string rate_text(double value) {
  return value > 0 && value < 0.001 ? "<.001" : three_digits(value);
}

Text time_of(double CellTiming::*field) {
  return speed([field](const Record& r) { return time_text(r.timing.*field); });
}

Text end_of_interval(double CellTiming::*field) {
  return speed([field](const Record& r) {
    return has_interval(r) ? time_text(r.timing.*field) : std::string("–");
  });
}

TerminalColumn bitwise_column() {
  return {
      "bit",
      1,
      3,
      Align::kLeft,
      figure([](const Record& r) { return r.error.rows > 0 ? bitwise_flags(r) : std::string(); }),
      Subject::kFigure,
      8,
      "bit: the bits stay the same in a second run (r), on other pages (p), alone (b); -: they "
      "differ, .: not tested"};
}

std::string enqueue(const Record& r) {
  return has_device_timer(r) ? time_text(r.timing.enqueue_us) : std::string("–");
}

/// Where a GPU takes part, the host's part of a launch stands beside the plan.
std::vector<TerminalColumn> narrow_columns(const Ceilings& ceilings, bool gpu,
                                           std::size_t name_width) {
  const bool tera_bytes = ceilings.read_bytes_per_s >= 1e12;
  const bool tera_flops = ceilings.flop_per_s >= 1e12;
  // 2 + 15 + 8 + 8 + 7 + 8 + 6 + 8 + 6 + 8 + 14 + 10 = 100, and on a wider terminal 4 more; with a
  // GPU's column for what enqueueing takes 8 more again
  std::vector<TerminalColumn> columns = {
      backend_column(name_width),
      {"cache", 2, 6, Align::kLeft, figure(cache_and_launch)},
      {"median", 1, 7, Align::kRight, figure(median)},
      {"± ", 1, 6, Align::kRight, speed(half_width)},
      {"vs best", 1, 7, Align::kRight, versus_best, Subject::kRanking, 0, kRankingLegend},
      {tera_bytes ? "TB/s" : "GB/s", 1, 5, Align::kRight, speed([tera_bytes](const Record& r) {
         return rate_text(r.gb_per_s() / (tera_bytes ? 1e3 : 1));
       }),
       Subject::kFigure, 1,
       fmt::format("{}: each distinct byte counts once", tera_bytes ? "TB/s" : "GB/s")},
      {tera_flops ? "TFLOP/s" : "GFLOP/s", 1, 7, Align::kRight,
       speed([tera_flops](const Record& r) {
         return rate_text(r.tflop_per_s() * (tera_flops ? 1 : 1e3));
       }),
       Subject::kFigure, 5},
      {"roof", 1, 5, Align::kRight, speed([](const Record& r) { return percent_text(r.roofline); }),
       Subject::kFigure, 3,
       "roof: the least time that the machine's measured ceilings allow, over the median"},
      {"plan", 1, 7, Align::kRight,
       speed([](const Record& r) { return time_text(r.plan.median_us); }), Subject::kFigure, 6,
       "plan: host time to prepare the step, not in the median"},
  };
  if (gpu) {
    columns.push_back({"enqueue", 1, 7, Align::kRight, speed(enqueue), Subject::kFigure, 7,
                       "enqueue: host time of the call that launches it"});
  }
  columns.push_back(
      {"verdict", 2, 12, Align::kLeft, figure(verdict_and_shortness), Subject::kVerdict});
  columns.push_back({"err/bound", 1, 9, Align::kLeft, figure(error_text), Subject::kFigure, 4,
                     "err/bound: the largest error over its bound; up to 1 passes"});
  columns.push_back(bitwise_column());
  return columns;
}

/// Of "qk bf16, p bf16, acc f32, partials bf16 x1, no lse".
constexpr std::size_t kDeclaredWidth = 51;

std::size_t line_width(const std::vector<TerminalColumn>& columns) {
  std::size_t width = 0;
  for (const TerminalColumn& column : columns) width += column.gap + column.width;
  return width;
}

/// Leaves columns out, the most dispensable first, until a line has room.
void narrow_down(std::vector<TerminalColumn>& columns, std::size_t width) {
  while (line_width(columns) > width) {
    const auto most = std::ranges::max_element(columns, {}, &TerminalColumn::dispensable);
    if (most->dispensable == 0) return;
    columns.erase(most);
  }
}

constexpr std::size_t kFewestOfName = 8;

/// "1.03 ?" of what has a rank; a cell without one says why in its place.
std::string rank_or_verdict(const Record& r, const Ranking& ranking) {
  return ranking.exists() ? versus_best(r, ranking) : verdict_word(r);
}

/// For a terminal that has no room even for what is indispensable: a column of ranks and verdicts
/// together, none for the cache where all rows have the same, the star of an interval beside the
/// median, and shorter names.
void squeeze(std::vector<TerminalColumn>& columns, std::size_t width, bool several_modes) {
  if (line_width(columns) <= width) return;
  const auto erase = [&](std::string_view title) {
    std::erase_if(columns, [&](const TerminalColumn& column) { return column.title == title; });
  };
  const auto named = [&](std::string_view title) -> TerminalColumn& {
    return *std::ranges::find(columns, title, &TerminalColumn::title);
  };
  const std::size_t names = columns.front().width;
  const auto width_beside_names = [&] { return line_width(columns) - columns.front().width; };
  erase("verdict");
  TerminalColumn& rank = named("vs best");
  rank.width = 12;  // of "not verified"
  rank.text = rank_or_verdict;
  rank.subject = Subject::kRankingOrVerdict;
  if (line_width(columns) > width && !several_modes) erase("cache");
  if (width_beside_names() + kFewestOfName > width) {
    erase("± ");
    TerminalColumn& starred = named("median");
    starred.width += 1;
    starred.text = figure([](const Record& r) { return median(r) + (is_open(r) ? "*" : " "); });
  }
  const std::size_t room = width - std::min(width, width_beside_names());
  columns.front() = backend_column(std::clamp(room, kFewestOfName, names));
}

}  // namespace

std::vector<TerminalColumn> terminal_columns(const Ceilings& ceilings, bool gpu, bool wide,
                                             std::size_t width, std::size_t name_width,
                                             bool several_modes) {
  std::vector<TerminalColumn> columns = narrow_columns(ceilings, gpu, name_width);
  if (!wide) {
    narrow_down(columns, width);
    squeeze(columns, width, several_modes);
    return columns;
  }
  columns.front() = backend_column(24);
  const auto add = [&](const char* title, std::size_t own_width, Text text) {
    columns.push_back({title, 2, own_width, Align::kRight, std::move(text)});
  };
  add("launch", 6, figure([](const Record& r) { return std::string(to_string(r.launch)); }));
  add("status", 12,
      figure([](const Record& r) { return std::string(to_string(r.timing.status)); }));
  add("lo", 7, end_of_interval(&CellTiming::lo_us));
  add("hi", 7, end_of_interval(&CellTiming::hi_us));
  add("q1", 7, time_of(&CellTiming::q1_us));
  add("q3", 7, time_of(&CellTiming::q3_us));
  add("min", 7, time_of(&CellTiming::min_us));
  add("max", 7, time_of(&CellTiming::max_us));
  add("rounds", 6, speed([](const Record& r) { return fmt::format("{}", r.timing.rounds); }));
  add("samples", 7, speed([](const Record& r) { return fmt::format("{}", r.timing.samples); }));
  add("plan max", 8, speed([](const Record& r) { return time_text(r.plan.max_us); }));
  add("first use", 9, figure([](const Record& r) {
        return r.first_use_us > 0 ? time_text(r.first_use_us) : std::string();
      }));
  add("workspace", 9, figure([](const Record& r) {
        return r.workspace_bytes > 0 ? bytes_text(r.workspace_bytes) : std::string();
      }));
  add("flops", 10, figure([](const Record& r) { return count_text(r.cost.flops); }));
  add("unique", 8, figure([](const Record& r) { return bytes_text(r.cost.bytes_unique); }));
  add("streamed", 8, figure([](const Record& r) { return bytes_text(r.cost.bytes_streamed); }));
  add("in cache", 8,
      figure([](const Record& r) { return std::string(r.cache_resident ? "yes" : "no"); }));
  add("declared roundings", kDeclaredWidth,
      figure([](const Record& r) { return r.declared.text(); }));
  add("max abs", 7, compared(&ErrorMetrics::max_abs));
  add("max/rms", 7, compared(&ErrorMetrics::max_abs_over_rms));
  add("nmse", 7, compared(&ErrorMetrics::nmse));
  add("rms ratio", 9, compared(&ErrorMetrics::rms_ratio));
  add("lse abs", 7, compared(&ErrorMetrics::lse_abs));
  add("rows", 6, figure([](const Record& r) {
        return r.error.rows > 0 ? fmt::format("{}", r.error.rows) : std::string();
      }));
  add("fixture", 16, figure([](const Record& r) { return r.fixture_hash; }));
  return columns;
}

std::string column_legends(const std::vector<TerminalColumn>& columns) {
  std::vector<std::string_view> legends;
  for (const TerminalColumn& column : columns) {
    if (!column.legend.empty()) legends.push_back(column.legend);
  }
  return fmt::format("{}", fmt::join(legends, " · "));
}

}  // namespace attnbench
