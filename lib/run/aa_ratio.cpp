// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/aa_ratio.h"

#include <algorithm>
#include <string_view>

#include "lib/session/aa_pairs.h"

namespace attnbench {

void add_aa_ratio(std::span<Record> records) {
  if (records.empty()) return;
  Record& second = records.back();
  const std::string_view name = registered_name(second.backend);
  if (name == second.backend || !second.claims_speed()) return;
  const auto first = std::ranges::find_if(records, [&](const Record& r) {
    return r.backend == name && r.case_id == second.case_id && r.cache == second.cache &&
           r.launch == second.launch;
  });
  if (first == records.end() || !first->claims_speed()) return;
  second.aa = paired_ratio(first->timing.blocks, second.timing.blocks);
}

}  // namespace attnbench
