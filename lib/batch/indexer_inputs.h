// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace attnbench {

/// What a step of StepPart::kIndexer reads: the lightning indexer of DeepSeek-V3.2, whose heads
/// share one key. The logit of query token t for the key at position s is
///   scale[s] * sum over heads h of weight[t, h] * max(0, q[t, h] . k[s]),
/// with the scale of q[t, h] in weight[t, h] (DeepGEMM's fp8_paged_mqa_logits). An indexer of pools
/// of keys (GLM-5.3-Flash, DeepSeek-V4) has one row for each complete pool, and s counts these
/// (Selection::complete_pools). Borrowed memory of the device that computes.
///
/// Under SelectionScore::kMax a head is a group's, and queries and keys are in bf16 without weights
/// and scales. The logit of unit s is the largest q[t, h] . k[j] of its keys j up to the query's
/// own, and that of the unit of this one at least kOwnUnitScore.
///
/// Where representations are scored (SelectionScore::kGroup, kHead, kBounds), heads are the
/// layer's, and the logit of unit u for a group is `scale` times what the score says, -inf where
/// versions differ. Queries are in bf16; a page of the cache has [rows, groups, rows_of_unit(),
/// kDim] bf16, lo before hi.
///
/// Where labels are scored (SelectionScore::kChannels), heads are the layer's, and the logit of a
/// key for a list is `scale` times the largest, of the list's heads, sum over the channels of the
/// head's KV head of q * label. Queries are in bf16; a page of the cache has [page_size, KV heads,
/// channels] bf16, of each key the elements in these channels.
///
/// A page of the cache, which the batch's block table names, is as indexer_k_quant_and_cache of
/// vLLM leaves it: first the keys of its rows, kDim bytes of e4m3 each, then their scales in f32.
struct IndexerInputs {
  static constexpr int kDim = 128;  ///< elements of a key and of a query head
  static constexpr std::int64_t kKeyBytes = kDim + static_cast<std::int64_t>(sizeof(float));

  const std::byte* q = nullptr;            ///< [T, heads, kDim] e4m3; bf16
  const float* weights = nullptr;          ///< [T, heads]; null
  const std::byte* cache = nullptr;        ///< [pages, page_size * kKeyBytes]; kDim * 2 bytes a key
  const std::int32_t* row_lens = nullptr;  ///< [T] rows that the query sees: 0 of padding
  std::int64_t tokens = 0;                 ///< T
  int heads = 0;
  std::int64_t pages = 0;
  std::int64_t page_size = 1;  ///< rows
  /// [pages, page_size] of what a unit holds, and of what its representation was made of; null
  /// where there are no representations.
  const std::int32_t* unit_versions = nullptr;
  const std::int32_t* row_versions = nullptr;
  /// [KV heads, channels] elements of a query and key, below kDim; null where there are no labels.
  const std::int32_t* channels = nullptr;
};

}  // namespace attnbench
