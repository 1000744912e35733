// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/terminal_columns.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/report/record_text.h"
#include "lib/report/units.h"
#include "lib/session/aa_pairs.h"

namespace attnbench {
namespace {

using Text = std::function<std::string(const Record&)>;
using Align = TerminalColumn::Align;

/// Empty unless the cell claims a speed.
Text speed(Text text) {
  return [text = std::move(text)](const Record& r) {
    return r.claims_speed() ? text(r) : std::string();
  };
}

/// Empty unless something was compared with the reference.
Text compared(double ErrorMetrics::*metric) {
  return [metric](const Record& r) {
    return r.error.rows > 0 ? three_digits(r.error.*metric) : std::string();
  };
}

/// A name that does not fit loses its tail, but the second of an A/A pair keeps what tells it from
/// the first.
TerminalColumn backend_column(std::size_t width) {
  return {"backend", 2, width, Align::kLeft, [width](const Record& r) {
            const std::string_view name = registered_name(r.backend);
            const std::string mark = r.backend.substr(name.size());
            if (mark.empty() || display_width(r.backend) <= width) return r.backend;
            return fit_left(name, width - mark.size()) + mark;
          }};
}

std::string median(const Record& r) {
  if (r.claims_speed()) return time_text(r.timing.median_us);
  return "–";
}

/// The star says that the interval did not reach the precision asked for.
std::string half_width(const Record& r) { return half_width_text(r) + (is_open(r) ? "*" : " "); }

constexpr std::size_t kVerdictWidth = 14;

/// "passed", "passed noisy", "passed short". A longer pair keeps to the verdict: the star stands
/// for the rest.
std::string verdict_and_status(const Record& r) {
  const std::string word = verdict_word(r);
  std::string more;
  if (is_open(r)) {
    more = ' ' + std::string(to_string(r.timing.status));
  } else if (r.is_short && r.claims_speed()) {
    more = " short";
  }
  return word.size() + more.size() > kVerdictWidth ? word : word + more;
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
  return {"bit",
          1,
          3,
          Align::kLeft,
          [](const Record& r) { return r.error.rows > 0 ? bitwise_flags(r) : std::string(); },
          false,
          7};
}

std::string enqueue(const Record& r) {
  return has_device_timer(r) ? time_text(r.timing.enqueue_us) : std::string("–");
}

/// Where a GPU takes part, the host's part of a launch stands beside the plan, and the bitwise
/// flags give way to it.
std::vector<TerminalColumn> narrow_columns(const Ceilings& ceilings, bool gpu) {
  const bool tera_bytes = ceilings.read_bytes_per_s >= 1e12;
  const bool tera_flops = ceilings.flop_per_s >= 1e12;
  const std::size_t gap = gpu ? 1 : 2;
  // 2 + 13 + 8 + 9 + 7 + 6 + 9 + 6 + 9 + 16 + 11 + 4 = 100
  // 2 + 13 + 8 + 8 + 7 + 6 + 8 + 6 + 8 + 8 + 16 + 10 = 100 with a GPU
  std::vector<TerminalColumn> columns = {
      backend_column(13),
      {"cache", 2, 6, Align::kLeft, cache_and_launch},
      {"median", gap, 7, Align::kRight, median},
      {"± ", 1, 6, Align::kRight, speed(half_width)},
      {tera_bytes ? "TB/s" : "GB/s", 1, 5, Align::kRight, speed([tera_bytes](const Record& r) {
         return rate_text(r.gb_per_s() / (tera_bytes ? 1e3 : 1));
       }),
       false, 1},
      {tera_flops ? "TFLOP/s" : "GFLOP/s", gap, 7, Align::kRight,
       speed([tera_flops](const Record& r) {
         return rate_text(r.tflop_per_s() * (tera_flops ? 1 : 1e3));
       }),
       false, 4},
      {"roof", 1, 5, Align::kRight, speed([](const Record& r) { return percent_text(r.roofline); }),
       false, 3},
      {"plan", gap, 7, Align::kRight,
       speed([](const Record& r) { return time_text(r.plan.median_us); }), false, 5},
  };
  if (gpu) columns.push_back({"enqueue", gap, 7, Align::kRight, speed(enqueue), false, 6});
  columns.push_back({"verdict", 2, kVerdictWidth, Align::kLeft, verdict_and_status, true});
  columns.push_back({"err/bound", gap, 9, Align::kLeft, error_text, false, 2});
  if (!gpu) columns.push_back(bitwise_column());
  return columns;
}

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

}  // namespace

std::vector<TerminalColumn> terminal_columns(const Ceilings& ceilings, bool gpu, bool wide,
                                             std::size_t width) {
  std::vector<TerminalColumn> columns = narrow_columns(ceilings, gpu);
  if (!wide) {
    narrow_down(columns, width);
    return columns;
  }
  if (gpu) columns.push_back(bitwise_column());
  columns.front() = backend_column(24);
  const auto add = [&](const char* title, std::size_t own_width, Text text) {
    columns.push_back({title, 2, own_width, Align::kRight, std::move(text)});
  };
  add("launch", 6, [](const Record& r) { return std::string(to_string(r.launch)); });
  add("status", 12, [](const Record& r) { return std::string(to_string(r.timing.status)); });
  add("lo", 7, end_of_interval(&CellTiming::lo_us));
  add("hi", 7, end_of_interval(&CellTiming::hi_us));
  add("q1", 7, time_of(&CellTiming::q1_us));
  add("q3", 7, time_of(&CellTiming::q3_us));
  add("min", 7, time_of(&CellTiming::min_us));
  add("max", 7, time_of(&CellTiming::max_us));
  add("rounds", 6, speed([](const Record& r) { return fmt::format("{}", r.timing.rounds); }));
  add("samples", 7, speed([](const Record& r) { return fmt::format("{}", r.timing.samples); }));
  add("plan max", 8, speed([](const Record& r) { return time_text(r.plan.max_us); }));
  add("flops", 10, [](const Record& r) { return count_text(r.cost.flops); });
  add("unique", 8, [](const Record& r) { return bytes_text(r.cost.bytes_unique); });
  add("streamed", 8, [](const Record& r) { return bytes_text(r.cost.bytes_streamed); });
  add("in cache", 8, [](const Record& r) { return std::string(r.cache_resident ? "yes" : "no"); });
  add("max abs", 7, compared(&ErrorMetrics::max_abs));
  add("max/rms", 7, compared(&ErrorMetrics::max_abs_over_rms));
  add("nmse", 7, compared(&ErrorMetrics::nmse));
  add("rms ratio", 9, compared(&ErrorMetrics::rms_ratio));
  add("lse abs", 7, compared(&ErrorMetrics::lse_abs));
  add("rows", 6, [](const Record& r) {
    return r.error.rows > 0 ? fmt::format("{}", r.error.rows) : std::string();
  });
  add("fixture", 16, [](const Record& r) { return r.fixture_hash; });
  return columns;
}

}  // namespace attnbench
