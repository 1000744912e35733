// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/fill.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "lib/scenario/case.h"

namespace attnbench {

std::string_view to_string(Fill fill) {
  constexpr std::string_view kWords[] = {"needle", "tag",    "sparse_int", "extreme",
                                         "normal", "timing", "sample"};
  const auto index = static_cast<std::size_t>(fill);
  return index < std::size(kWords) ? kWords[index] : "?";
}

float planted_size(const AttentionLayer& layer, double logit) {
  const int planted = layer.head_dim_qk - first_planted_dim(layer);
  return static_cast<float>(logit / (layer.scale * static_cast<double>(planted)));
}

int first_planted_dim(const AttentionLayer& layer) {
  if (!layer.shares_row_of_k_and_v()) return 0;
  if (layer.head_dim_v < layer.head_dim_qk) return layer.head_dim_v;
  return layer.head_dim_qk - std::max(layer.head_dim_qk / 8, 1);
}

ContentRange content_range(const Case& c) {
  constexpr double kPlain = 6;  // of tags; integers reach 4, normal numbers 3.46
  const double lowest = -kExtremeLogit - std::ranges::max(kExtremeSteps);
  return {std::max({kPlain, static_cast<double>(planted_size(c.layer, kNeedleLogit)),
                    std::fabs(static_cast<double>(planted_size(c.layer, lowest)))}),
          kPlain};
}

}  // namespace attnbench
