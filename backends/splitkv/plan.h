// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/splitkv/planner.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// Who decides into how many pieces the keys of a tile are cut. The engines' rules cut decodes
/// only, as Triton's kernels do.
enum class SplitRule : std::uint8_t {
  kFill,       ///< pieces of equal work, as many as fill the GPU: this backend's own
  kStepped,    ///< 1 up to 512 keys, then one per 512, at most 8
  kDynamic,    ///< SGLang's get_num_kv_splits_triton
  kFixedTile,  ///< one per 256 keys: a request's bits do not depend on its batch
};

/// Work of one batch.
[[nodiscard]] SplitKvPlan plan_splitkv(const ForwardBatch& batch, const AttentionLayer& layer,
                                       SplitRule rule, int multiprocessors);

}  // namespace attnbench
