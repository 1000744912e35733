// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "lib/gate/gate_verdict.h"
#include "lib/result/record.h"

namespace attnbench {

/// What a cell must keep. What is not set comes from a more general rule.
struct Limits {
  std::optional<double> latency;           ///< slower by more than this part has regressed
  std::optional<double> latency_floor_us;  ///< and by more than this
  std::optional<double> error;             ///< largest error / bound; 1 is the bound itself
  std::optional<double> roofline;          ///< smallest part of the roofline, 0..1
  std::optional<bool> must_run;            ///< support: required
};

/// Globs, '*' and '?'. Empty: every one.
struct CellPattern {
  std::string case_id, backend, mix;

  [[nodiscard]] bool matches(const CellKey& cell, const std::string& cell_mix) const;
};

struct PolicyRule {
  CellPattern cells;
  Limits limits;
};

/// A verdict that is known and accepted for a while.
struct Allowance {
  CellPattern cells;
  std::vector<GateVerdict> verdicts;
  std::optional<double> latency;  ///< REGRESSED is allowed up to this part; none: whatever it is
  std::string reason;
  std::chrono::year_month_day expires;  ///< the last day on which it counts
  int line = 0;                         ///< of the file
};

/// gate.yaml. An empty one is the default policy: a change from 2 % and 0.5 us on.
struct Policy {
  std::string path;
  Limits limits;
  std::vector<PolicyRule> rules;  ///< a later one overrides an earlier one, setting by setting
  std::vector<Allowance> allowances;

  [[nodiscard]] Limits limits_of(const CellKey& cell, const std::string& mix) const;
};

/// Throws ConfigError with every mistake of the file: unknown keys with the nearest one, values out
/// of range, an allowance without a reason or a date.
[[nodiscard]] Policy read_policy(const std::string& path);
/// The same for text in memory; `path` names it in messages.
[[nodiscard]] Policy parse_policy(const std::string& text, const std::string& path);

/// The policy as YAML that parse_policy() reads back, defaults spelled out.
[[nodiscard]] std::string policy_text(const Policy& policy);

/// "2026-12-31"; none for anything else.
[[nodiscard]] std::optional<std::chrono::year_month_day> parse_date(const std::string& text);
[[nodiscard]] std::string date_text(const std::chrono::year_month_day& date);

}  // namespace attnbench
