// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/result/record.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

// What the sinks for people say about a record, in one wording.

/// "case", or "scenario/case" in a run of several scenarios: unique there.
[[nodiscard]] std::string case_name(const RunResult& run, const Record& record);
/// "case/backend/cache/launch": unique in a run.
[[nodiscard]] std::string cell_name(const RunResult& run, const Record& record);
/// "quickstart", "decode, mla".
[[nodiscard]] std::string scenario_names(const RunResult& run);
/// The verdict's word, or "IMPOSSIBLE" for a cell that beats the machine.
[[nodiscard]] std::string verdict_word(const Record& record);
/// "cold", "warm", "serv", or "cold/g" when a graph was replayed; empty for a cell that was not
/// timed.
[[nodiscard]] std::string cache_and_launch(const Record& record);
/// Three letters: r repeatable, p page-permutation invariant, b batch invariant; '-' where it is
/// not, '.' where it was not tested.
[[nodiscard]] std::string bitwise_flags(const Record& record);
/// "0.21" or, when nothing was compared, "".
[[nodiscard]] std::string error_text(const Record& record);

/// Whether lo and hi are a 95 % interval of the median.
[[nodiscard]] bool has_interval(const Record& record);
/// "0.3 %", "17 ×" from ten medians on, or "–" where there is no interval; empty for a cell that
/// claims no speed.
[[nodiscard]] std::string half_width_text(const Record& record);
/// A figure that is shown although its interval is wider than asked for, or is none.
[[nodiscard]] bool is_open(const Record& record);
/// An open figure that more time or a quieter machine would settle: noisy or timeout.
[[nodiscard]] bool ran_out_of_time(const Record& record);

/// Whether the device has its own timer, so that the host's enqueueing is a separate figure.
[[nodiscard]] bool has_device_timer(const Record& record);
/// Whether index builds were timed: on a GPU.
[[nodiscard]] bool has_index_timing(const Record& record);
/// "built on the GPU in 12.3 µs, on the host in 180 µs".
[[nodiscard]] std::string index_text(const IndexTiming& index);

/// "converged", "noisy" …; "interrupted", "refused"; empty when it has no batched graph.
[[nodiscard]] std::string graph_n_status(const Record& record);
/// "1.93 µs ± 0.3 %", with a star when it did not converge; "refused" when it claims nothing; empty
/// when the cell has no batched graph.
[[nodiscard]] std::string graph_n_text(const Record& record);
/// "graph×31: 1.93 µs ± 0.3 % a forward, 31 sets of inputs in turn", or why it was refused; empty
/// when the cell was not repeated.
[[nodiscard]] std::string graph_n_line(const Record& record);
/// Whether lo and hi are a 95 % interval, as has_interval() of the main figure.
[[nodiscard]] bool graph_n_has_interval(const Record& record);

/// The table's explanation of "–" in the place of an interval.
inline constexpr const char* kNoIntervalLegend =
    "–: fewer than six rounds, too few for an interval";
/// The table's explanation of Record::is_short.
inline constexpr const char* kShortLegend =
    "short: below 10 µs, where the launch itself and the timer's step are part of the figure";
/// The table's explanation of graph_n_line().
inline constexpr const char* kGraphNLegend =
    "graph×N: the time of N forwards in one graph, over N; cold: with enough inputs that none is "
    "cached";
/// The table's explanation of Record::graph_forced, which cache_and_launch() marks.
inline constexpr const char* kForcedLegend =
    "/f: a graph of this one batch that the backend does not claim; no engine would replay it";

/// Counts for a closing line, for join_parts: "9 cells", "5 passed,", "1 INCORRECT", "2 noisy". The
/// last ones are statuses of cells whose figure is_open.
[[nodiscard]] std::vector<std::string> tally_parts(const RunResult& run);

/// Whether the cell was not tried: unsupported or skipped. A table for people has no row of it.
[[nodiscard]] bool was_not_run(const Record& record);

/// The cells of one case that were not tried, by reason: "torch_native, cpu_flash (no CUDA graph on
/// a CPU) · mla (no latent cache)". A backend with other cells that were tried is named with the
/// launch mode or the cache state: "cascade/g", "cascade cold/g". Empty: all were tried.
[[nodiscard]] std::string not_run_text(std::span<const Record> of_case);

/// The command that runs exactly this cell again. `entry` is of the record's backend.
[[nodiscard]] std::string repro_line(const Scenario& scenario, const Record& record,
                                     const Registry::Entry& entry = {});

}  // namespace attnbench
