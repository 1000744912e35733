// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/scenario/testing/case_builder.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {

/// Prompts alone, prompts beside a chunk and decodes, and chunks behind prefixes, of lengths around
/// 64 and 128; bf16, pages of 16.
[[nodiscard]] inline std::vector<Case> prompt_cases() {
  std::vector<Case> cases;
  const auto add = [&](const char* id, const std::vector<TokenCounts>& lengths) {
    Case& c = cases.emplace_back(small_prefix_hits());
    c.id = id;
    c.prefixes.clear();
    c.requests.clear();
    add_requests(c, "some", lengths);
  };
  add("prompts", {{1, 1}, {63, 63}, {64, 64}, {65, 65}, {200, 200}});
  add("mixed", {{70, 70}, {1, 90}, {130, 159}, {1, 1}, {1, 17}});
  add("chunks", {{16, 32}, {129, 400}, {3, 16}});
  return cases;
}

}  // namespace attnbench
