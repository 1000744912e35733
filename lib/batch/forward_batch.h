// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/batch/chosen_keys.h"
#include "lib/batch/device_batch.h"
#include "lib/batch/forward_mode.h"
#include "lib/batch/index_outputs.h"
#include "lib/batch/index_scores.h"
#include "lib/batch/index_write.h"
#include "lib/batch/indexer_inputs.h"
#include "lib/batch/kv_pool.h"
#include "lib/batch/problem.h"
#include "lib/batch/req_to_token_pool.h"

namespace attnbench {

/// Draft trees of a target_verify step (SGLang's EagleVerifyInput). All requests have
/// draft_token_num nodes; node 0 is the last verified token.
struct SpecInfo {
  std::int64_t draft_token_num = 0;  ///< N
  std::int64_t topk = 0;             ///< 1: every tree is a chain, and causal masking is exact
  /// FULL_MASK: per request row-major [N, seq_len + N], concatenated; 1 = visible. It is of the
  /// decoder's own keys: a cross layer does not read it, since each node sees all of the encoder's.
  std::vector<std::uint8_t> custom_mask;
  std::vector<std::int64_t> mask_indptr;           ///< [B + 1], in elements of custom_mask
  std::vector<std::int32_t> retrive_index;         ///< [B * N], the field's own spelling
  std::vector<std::int32_t> retrive_next_token;    ///< [B * N] first child or -1
  std::vector<std::int32_t> retrive_next_sibling;  ///< [B * N] next sibling or -1
  /// [B * N] parent, which comes before, or -1: of roots, and of the nodes of requests that fill
  /// the batch up.
  std::vector<std::int32_t> retrieve_parent_token;
};

/// Multi-item scoring, as FlashInfer's prefill plan takes it: a prompt ends in items that must not
/// see each other, a delimiter before each and one behind the last. A query at place i sees, of the
/// keys up to its own, those before prefix_len and those of its own item: the ones behind place
/// i - token_pos_in_items. So a delimiter, at position 0, sees the prefix alone.
struct MultiItemParams {
  std::vector<std::uint32_t> prefix_len_ptr;  ///< [B] keys before the first delimiter
  /// [B, token_pos_in_items_len]: of each key from the first delimiter on its position within its
  /// item, delimiters 0; filled up with zeros.
  std::vector<std::uint16_t> token_pos_in_items_ptr;
  std::int64_t token_pos_in_items_len = 0;
  std::vector<std::uint16_t> max_item_len_ptr;  ///< [B] the longest item, delimiters not counted
};

/// One forward step of a batch, as SGLang's engine hands it to an attention backend
/// (forward_batch_info.py). B = batch_size requests, T rows of query tokens in all: those of the
/// requests, one request after the other, and behind them those that belong to no request, if the
/// step is filled up by some (with_padding_tokens()). input_ids are left out: attention never reads
/// them.
struct ForwardBatch {
  ForwardMode forward_mode = ForwardMode::kIdle;
  std::int64_t batch_size = 0;                 ///< B
  std::vector<std::int32_t> req_pool_indices;  ///< [B] rows of req_to_token_pool
  /// [B] KV length: decode counts the new token, extend is prefix + extend, target_verify is the
  /// committed prefix only.
  std::vector<std::int32_t> seq_lens;
  std::int64_t seq_lens_sum = 0;
  std::vector<std::int64_t> out_cache_loc;  ///< [T] slot of each new token
  std::vector<std::int64_t> positions;      ///< [T]
  // Extend family only (has_extend_lens()); empty for the others.
  std::vector<std::int32_t> extend_prefix_lens;  ///< [B]
  std::vector<std::int32_t> extend_seq_lens;     ///< [B]
  std::vector<std::int32_t> extend_start_loc;  ///< [B] exclusive cumulative sum of extend_seq_lens
  std::int64_t extend_num_tokens = 0;          ///< sum of extend_seq_lens
  std::vector<std::int32_t> encoder_lens;      ///< [B] cross attention only
  /// Cross attention only: slots of the encoders' tokens whose keys are new in this step, request
  /// after request. Attention finds them written; out_cache_loc has no slot of theirs.
  std::vector<std::int64_t> encoder_out_cache_loc;
  std::optional<SpecInfo> spec_info;          ///< target_verify only
  std::optional<MultiItemParams> multi_item;  ///< extend only, where items are scored
  /// [T, 2] where prompts have bidirectional spans: [begin, end) among the request's keys of the
  /// span that a query token is part of; 0, 0: none. A span may go on behind the request's keys.
  std::vector<std::int32_t> spans;
  std::optional<ChosenKeys> chosen;  ///< of T query tokens, where the layer has a selection
  // Recurrent layers only (vLLM's gated-delta-net metadata, v1/attention/backends/gdn_attn.py).
  std::vector<std::int32_t> state_indices;  ///< [B] slot of each request; -1: padding, skip it
  /// [B] 1: the slot holds the state that a prefix left; 0: what lies there must be ignored.
  std::vector<std::uint8_t> has_initial_state;
  const Problem* problem = nullptr;
  AttentionTensors tensors;  ///< addresses of the device that computes
  const ReqToTokenPool* req_to_token_pool = nullptr;
  const KvPool* token_to_kv_pool = nullptr;
  const StatePool* state_pool = nullptr;  ///< null where the layer has none
  /// target_verify of a recurrent layer only: slot t takes the state behind query token t of the
  /// batch, [T, heads, K, V] in the order of state_pool, from which the engine commits the accepted
  /// one afterwards (SGLang's intermediate_states_buffer). It goes on from the one behind the
  /// token's parent, a root's from the request's slot. The slots of state_pool are read alone.
  const StatePool* intermediate_states = nullptr;
  const DeviceBatch* device_batch = nullptr;
  // A pipeline has both of these: its scores are the first of its index_outputs.
  const IndexScores* index_scores = nullptr;    ///< null unless the step is StepPart::kSelect
  const IndexerInputs* indexer = nullptr;       ///< null unless the step is StepPart::kIndexer
  const IndexWrite* index_write = nullptr;      ///< null unless the step writes_index()
  const IndexOutputs* index_outputs = nullptr;  ///< null unless the step builds them

  /// Query tokens of request r: 1 for decode, N for target_verify, extend_seq_lens[r] otherwise.
  [[nodiscard]] std::int64_t q_len(std::int64_t r) const;
  /// Keys in the pool for request r, this step's own included (encoder_lens for cross attention).
  [[nodiscard]] std::int64_t kv_len(std::int64_t r) const;
  /// T, which is more than the requests have where rows of no request fill the step up.
  [[nodiscard]] std::int64_t q_tokens() const {
    return static_cast<std::int64_t>(positions.size());
  }
};

/// What the stages of a pipeline (is_pipeline()) read and leave beside attention's tensors. The
/// selector reads the logits that the indexer leaves.
struct PipelineParts {
  IndexerInputs indexer;
  IndexScores scores;
  IndexOutputs outputs;
  IndexWrite write;  ///< of one that writes_index()

  /// These outlive the batch.
  void set_in(ForwardBatch& batch) const {
    batch.indexer = &indexer;
    batch.index_scores = &scores;
    batch.index_outputs = &outputs;
    batch.index_write = write.k == nullptr ? nullptr : &write;
  }
};

/// The batch's index tensors. Throws InternalError where no fixture has set them.
[[nodiscard]] const DeviceBatch& device_batch_of(const ForwardBatch& batch);

/// The entries that count of the list of a query token for a group of heads, where a CPU reads
/// them: in the batch's index tensors, since a selector of the same step may just have left them
/// there.
[[nodiscard]] std::span<const std::int32_t> listed_units(const ForwardBatch& batch,
                                                         std::int64_t token, std::int64_t group);
/// The scores of these entries, of a layer that weighs units.
[[nodiscard]] std::span<const float> listed_scores(const ForwardBatch& batch, std::int64_t token,
                                                   std::int64_t group);

/// The scales of a step's queries; they lie where its tensors do.
[[nodiscard]] inline QScaleArray q_scale_array(const ForwardBatch& batch) {
  return q_scale_array(batch.problem->fp8, batch.problem->layer, batch.tensors.q_scales);
}

}  // namespace attnbench
