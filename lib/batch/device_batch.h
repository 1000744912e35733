// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// The batch's index tensors in the memory of the device that computes, where an engine keeps them
/// too. Lives in the fixture. B requests, T query tokens. A recurrent layer has kv_lens, qo_indptr,
/// positions and what leads to its states, other layers all but the latter; a cross layer has no
/// mask, since each node of a draft tree sees all keys of the encoder.
struct DeviceBatch {
  const std::int32_t* req_to_token = nullptr;      ///< [rows, req_to_token_stride]
  std::int64_t req_to_token_stride = 0;            ///< max_context_len of the pool
  const std::int32_t* req_pool_indices = nullptr;  ///< [B]
  const std::int32_t* block_table = nullptr;       ///< [B, block_table_width] pages; -1: none
  std::int64_t block_table_width = 0;
  const std::int64_t* out_cache_loc = nullptr;  ///< [T] slots of this step's keys
  const std::int32_t* kv_lens = nullptr;    ///< [B] ForwardBatch::kv_len: this step's keys included
  const std::int32_t* qo_indptr = nullptr;  ///< [B + 1] query tokens, cumulative
  const std::int64_t* positions = nullptr;  ///< [T]
  /// As SpecInfo's; null without a draft tree, and in layers that do not read it: beside an encoder
  /// and recurrent ones.
  const std::uint8_t* custom_mask = nullptr;
  const std::int64_t* mask_indptr = nullptr;  ///< [B + 1]; null where custom_mask is
  const std::int32_t* spans = nullptr;  ///< [T, 2] as ForwardBatch's; null where there are none
  const std::int32_t* state_indices = nullptr;      ///< [B] as ForwardBatch's
  const std::uint8_t* has_initial_state = nullptr;  ///< [B] as ForwardBatch's
  /// [T] as SpecInfo's; null without a draft tree.
  const std::int32_t* retrieve_parent_token = nullptr;
};

}  // namespace attnbench
