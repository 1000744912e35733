// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// Which cell a record is of: what two records of different runs must share to be compared.
struct CellKey {
  explicit CellKey(const Record& record);

  std::string scenario, case_id, backend;
  StepPart step;
  CacheState cache;
  LaunchMode launch;

  auto operator<=>(const CellKey&) const = default;
};

/// "quickstart: decode/ps16, splitkv, attention, cold, eager".
[[nodiscard]] std::string to_string(const CellKey& key);

}  // namespace attnbench
