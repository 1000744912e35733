// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/attention_layer.h"

#include <cmath>

namespace attnbench {

std::string_view to_string(WindowInTrees rule) {
  return rule == WindowInTrees::kIndex ? "index" : "depth";
}

std::string_view to_string(Family family) {
  switch (family) {
    case Family::kSoftmax:
      return "mha";
    case Family::kLatent:
      return "mla";
    case Family::kGatedDeltaNet:
      return "gated_delta_net";
    case Family::kKimiDelta:
      return "kimi_delta";
    case Family::kLightning:
      return "lightning";
    case Family::kMamba2:
      return "mamba2";
  }
  return "?";
}

std::string_view AttentionLayer::recurrence() const {
  switch (family) {
    case Family::kKimiDelta:
      return "Kimi delta attention";
    case Family::kLightning:
      return "lightning attention";
    case Family::kMamba2:
      return "Mamba-2";
    default:
      return "gated delta net";
  }
}

double logit_temperature(const AttentionLayer& layer, std::int64_t place) {
  if (layer.temperature_len == 0 || place <= layer.temperature_len) return 1;
  return std::log2(static_cast<double>(place)) /
         std::log2(static_cast<double>(layer.temperature_len));
}

double alibi_slope(const AttentionLayer& layer, int head) {
  return std::exp2(double{alibi_log2_slope(alibi_power(layer), head)});
}

}  // namespace attnbench
