// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "backends/splitkv/planner.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::splitkv {

/// The rule that decides into how many pieces the keys of a tile are cut. The engines' rules cut
/// decodes only, as Triton's kernels do.
enum class SplitRule : std::uint8_t {
  kFill,       ///< pieces of equal work, as many as fill the GPU: this backend's own
  kDynamic,    ///< SGLang's get_num_kv_splits_triton, at most 8
  kFixedTile,  ///< one per 256 keys: a request's bits do not depend on its batch
};

inline constexpr SplitRule kSplitRules[] = {SplitRule::kFill, SplitRule::kDynamic,
                                            SplitRule::kFixedTile};

/// What a backend with this rule is registered as, "splitkv" or "splitkv:dynamic"; what
/// `attnbench list backends` says of it.
[[nodiscard]] std::string_view name_of(SplitRule rule);
[[nodiscard]] std::string_view description_of(SplitRule rule);

/// Work of one batch. Padding requests have none.
[[nodiscard]] WorkPlan plan_work(const ForwardBatch& batch, const AttentionLayer& layer,
                                 SplitRule rule, int multiprocessors);

/// Batches of up to `requests` requests with `q_len` query tokens and up to `max_kv_len` keys each.
struct UniformBatches {
  ForwardMode mode = ForwardMode::kDecode;
  std::int64_t requests = 0;
  std::int64_t q_len = 1;
  std::int64_t max_kv_len = 0;
};
/// Room for the plan of any of them: what a CUDA graph is captured with.
[[nodiscard]] tiles::Room room_for(const UniformBatches& batches, const AttentionLayer& layer,
                                   SplitRule rule, int multiprocessors);

}  // namespace attnbench::splitkv
