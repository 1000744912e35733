// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/gate/compare.h"
#include "lib/result/record.h"

namespace attnbench {

enum class AbSide : std::uint8_t { kBase, kNew };
[[nodiscard]] std::string_view to_string(AbSide side);  ///< "base", "new"

/// What one fresh process measured.
struct AbMeasurement {
  RunResult run;
  std::string failure;   ///< why it has no result: "was killed by signal 11 (SIGSEGV)"
  bool crashed = false;  ///< by the program's own fault
  bool hung = false;     ///< it was killed at its time limit, which is a crash, too
};

/// Runs one side in a fresh process. `verify`: check the outputs, too. `cells`: measure at least
/// these; empty: all.
using AbProcess =
    std::function<AbMeasurement(AbSide side, bool verify, const std::vector<CellKey>& cells)>;

struct AbConfig {
  int pairs = 20;
  int repeat_pairs = 30;         ///< of what the first pairs left open, judged alone; 0: none
  std::uint64_t seed = 0;        ///< of the coin that says which side begins a pair
  std::vector<CellKey> cells{};  ///< empty: all
  CompareOptions compare{};
};

struct AbHooks {
  /// Before each process; `pair` counts from 1 to `pairs` in either stage.
  std::function<void(int pair, int pairs, AbSide side)> progress{};
  std::function<bool()> stop_requested{};
};

/// Compares two programs by pairs of fresh processes, which take turns in seeded random order. The
/// first process of each side that succeeds checks the outputs; its records tell what ran. What is
/// INCONCLUSIVE after the pairs is measured once more, in new pairs that are judged alone, and that
/// is final. A process that fails costs its pair; a crash of the new program is INCORRECT, and so
/// is an end without a result that it does not explain. A new program that the machine could never
/// run is NOT_COMPARABLE. When stopped, what is known is judged, and so it is after a pair in which
/// a process hung: further ones would most likely hang as well.
[[nodiscard]] GateReport run_ab(const AbProcess& process, const AbConfig& config,
                                const AbHooks& hooks);

/// What a report of `compare` leaves to a confirmation.
struct Screen {
  std::vector<CellKey> open;     ///< another measurement may decide these
  std::vector<Comparison> gone;  ///< MISSING and SKIPPED_NOW, not allowed: no measurement can
};

/// Reads write_gate_json(): open are SUSPECT, INCONCLUSIVE, NO_VERDICT, and REGRESSED by its time.
/// Throws ConfigError on anything that is no such report.
[[nodiscard]] Screen read_screen(const std::string& path);

}  // namespace attnbench
