// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "lib/backend/support.h"
#include "lib/batch/cache_format.h"
#include "lib/batch/problem.h"

namespace attnbench::gated_delta_net {

/// What both backends of this folder refuse.
[[nodiscard]] inline Support supports_recurrent_layers(const Problem& problem) {
  if (!problem.layer.is_recurrent()) {
    return Support::no("recurrent layers only: it keeps a state instead of keys and values");
  }
  return Support::yes();
}

/// States, key dims first. A layer with keys is refused however they lie: each layout is read, so
/// that the refusal is that of the layer.
[[nodiscard]] inline std::vector<KvLayout> layouts_of_states(const Problem& problem) {
  return {problem.layer.is_recurrent() ? KvLayout::kStatesKv : problem.cache.layout};
}

}  // namespace attnbench::gated_delta_net
