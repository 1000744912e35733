// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/splitkv/planner.h"
#include "lib/batch/forward_batch.h"
#include "lib/model/attention_layer.h"

namespace attnbench::splitkv {

/// The rule that decides into how many pieces the keys of a tile are cut. All but kFill cut decodes
/// only, as Triton's kernels do.
struct SplitRule {
  enum Kind : std::uint8_t {
    kFill,       ///< pieces of equal work, as many as fill the GPU: this backend's own
    kDynamic,    ///< SGLang's get_num_kv_splits_triton, at most 8
    kFixedTile,  ///< one per `tile_keys` keys: a request's bits do not depend on its batch
    kPieces,     ///< so many, whatever the lengths
  };
  Kind kind = kFill;
  std::int64_t pieces = 0;  ///< of kPieces; else 0
  /// Of kFixedTile; SGLang's deterministic mode has 256 unless SGLANG_TRITON_DECODE_SPLIT_TILE_SIZE
  /// says otherwise.
  std::int64_t tile_keys = kUsualTileKeys;
  static constexpr std::int64_t kUsualTileKeys = 256;

  constexpr SplitRule() = default;
  constexpr SplitRule(Kind rule) : kind(rule) {}
  constexpr SplitRule(Kind rule, std::int64_t count) : kind(rule) {
    (rule == kFixedTile ? tile_keys : pieces) = count;
  }
  friend constexpr bool operator==(const SplitRule&, const SplitRule&) = default;
};

/// The rules that are registered; those with a number are the values of tuning parameters.
inline constexpr SplitRule kSplitRules[] = {SplitRule::kFill,
                                            SplitRule::kDynamic,
                                            SplitRule::kFixedTile,
                                            {SplitRule::kPieces, 1},
                                            {SplitRule::kPieces, 2},
                                            {SplitRule::kPieces, 4},
                                            {SplitRule::kPieces, 8},
                                            {SplitRule::kPieces, 16},
                                            {SplitRule::kPieces, 32},
                                            {SplitRule::kPieces, 64},
                                            {SplitRule::kFixedTile, 128},
                                            {SplitRule::kFixedTile, 512},
                                            {SplitRule::kFixedTile, 1024},
                                            {SplitRule::kFixedTile, 2048}};

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
/// Those of a recorded problem. Of a layer with a selection each query token is as a request of its
/// own.
[[nodiscard]] UniformBatches uniform_batches(const Problem& problem);
/// Room for the plan of any of them: what a CUDA graph is captured with.
[[nodiscard]] tiles::Room room_for(const UniformBatches& batches, const AttentionLayer& layer,
                                   SplitRule rule, int multiprocessors);

}  // namespace attnbench::splitkv
