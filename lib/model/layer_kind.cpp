// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/layer_kind.h"

#include <fmt/format.h>

#include <numeric>

namespace attnbench {

std::string_view to_string(LayerKind kind) {
  return kLayerKindWords[static_cast<std::size_t>(kind)];
}

int LayerCounts::total() const { return std::accumulate(counts_.begin(), counts_.end(), 0); }

std::string LayerCounts::text(std::optional<LayerKind> left_out) const {
  std::string text;
  for (const LayerKind kind : kLayerKinds) {
    if ((*this)[kind] == 0 || kind == left_out) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", (*this)[kind], to_string(kind));
  }
  return text;
}

}  // namespace attnbench
