// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/graph_padding.h"

#include <array>

#include "lib/base/error.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

/// What has an entry for each node.
std::array<std::vector<std::int32_t>*, 4> links_of(SpecInfo& spec) {
  return {&spec.retrive_index, &spec.retrive_next_token, &spec.retrive_next_sibling,
          &spec.retrieve_parent_token};
}

/// The draft trees of `requests` more requests, whose nodes see nothing.
void pad_trees(SpecInfo& spec, std::int64_t requests, std::int64_t seq_len) {
  const std::int64_t nodes = spec.draft_token_num;
  const auto more = static_cast<std::size_t>(requests * nodes);
  for (std::int64_t i = 0; i < requests; ++i) {
    spec.mask_indptr.push_back(spec.mask_indptr.back() + nodes * (seq_len + nodes));
  }
  spec.custom_mask.resize(static_cast<std::size_t>(spec.mask_indptr.back()), 0);
  for (std::vector<std::int32_t>* links : links_of(spec)) {
    links->resize(links->size() + more, -1);
  }
}

/// Requests without items: all of their keys are prefix.
void pad_items(MultiItemParams& items, std::size_t requests, std::int32_t seq_len) {
  items.prefix_len_ptr.resize(requests, static_cast<std::uint32_t>(seq_len));
  items.token_pos_in_items_ptr.resize(
      requests * static_cast<std::size_t>(items.token_pos_in_items_len), 0);
  items.max_item_len_ptr.resize(requests, 0);
}

}  // namespace

bool is_padding(const ForwardBatch& batch, std::int64_t r) {
  return batch.req_pool_indices[static_cast<std::size_t>(r)] == kPaddingRow;
}

std::int64_t real_tokens(const ForwardBatch& batch) {
  std::int64_t tokens = 0;
  for (std::int64_t r = 0; r < batch.batch_size && !is_padding(batch, r); ++r) {
    tokens += batch.q_len(r);
  }
  return tokens;
}

std::int64_t tokens_of_requests(const ForwardBatch& batch) {
  std::int64_t tokens = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) tokens += batch.q_len(r);
  return tokens;
}

ForwardBatch with_padding(const ForwardBatch& batch, std::int64_t more,
                          std::int32_t seq_len_fill_value) {
  ForwardBatch padded = batch;
  padded.device_batch = nullptr;
  padded.batch_size += more;
  const auto requests = static_cast<std::size_t>(padded.batch_size);
  padded.req_pool_indices.resize(requests, kPaddingRow);
  padded.seq_lens.resize(requests, seq_len_fill_value);
  padded.seq_lens_sum += more * seq_len_fill_value;
  if (!batch.encoder_lens.empty()) padded.encoder_lens.resize(requests, 0);
  if (batch.state_pool != nullptr || !batch.state_indices.empty()) {
    padded.state_indices.resize(requests, kPaddingState);
    padded.has_initial_state.resize(requests, 0);
  }
  std::int64_t tokens = tokens_of_requests(batch);
  if (padded.spec_info) {
    tokens += more * padded.spec_info->draft_token_num;
    pad_trees(*padded.spec_info, more, seq_len_fill_value);
  } else if (is_decode_or_idle(batch.forward_mode)) {
    tokens += more;
  } else {
    padded.extend_prefix_lens.resize(requests, 0);
    padded.extend_seq_lens.resize(requests, 0);
    padded.extend_start_loc.resize(requests, narrow_i32(batch.extend_num_tokens));
    if (padded.multi_item) pad_items(*padded.multi_item, requests, seq_len_fill_value);
  }
  padded.out_cache_loc.resize(static_cast<std::size_t>(tokens), 0);
  padded.positions.resize(static_cast<std::size_t>(tokens), 0);
  if (padded.chosen) padded.chosen->pad(tokens);
  return padded;
}

ForwardBatch with_padding_tokens(const ForwardBatch& batch, std::int64_t more) {
  ForwardBatch padded = batch;
  padded.device_batch = nullptr;
  const auto rows = static_cast<std::size_t>(batch.q_tokens() + more);
  padded.out_cache_loc.resize(rows, 0);
  padded.positions.resize(rows, 0);
  if (padded.chosen) padded.chosen->pad(padded.q_tokens());
  return padded;
}

ForwardBatch pad_for_cuda_graph(const ForwardBatch& batch, std::int64_t batch_size,
                                std::int32_t seq_len_fill_value) {
  expects(batch.batch_size <= batch_size, "a batch larger than the captured one");
  expects(is_cuda_graph(batch.forward_mode),
          "only decode, target_verify and idle steps are padded for a CUDA graph");
  ForwardBatch padded = with_padding(batch, batch_size - batch.batch_size, seq_len_fill_value);
  if (batch.forward_mode == ForwardMode::kIdle) padded.forward_mode = ForwardMode::kDecode;
  return padded;
}

ForwardBatch step_to_record(const ForwardBatch& batch, std::int64_t batch_size,
                            std::int32_t seq_len_fill_value) {
  ForwardBatch empty = batch;
  empty.batch_size = empty.seq_lens_sum = 0;
  empty.req_pool_indices.clear();
  empty.seq_lens.clear();
  empty.out_cache_loc.clear();
  empty.positions.clear();
  if (empty.chosen) empty.chosen = empty.chosen->of_tokens(0, 0);
  empty.encoder_lens.clear();
  empty.state_indices.clear();
  empty.has_initial_state.clear();
  if (empty.spec_info) {
    SpecInfo& spec = *empty.spec_info;
    spec.custom_mask.clear();
    spec.mask_indptr = {0};
    for (std::vector<std::int32_t>* links : links_of(spec)) links->clear();
  }
  ForwardBatch padding = pad_for_cuda_graph(empty, batch_size, seq_len_fill_value);
  if (!batch.encoder_lens.empty()) {
    padding.encoder_lens.assign(static_cast<std::size_t>(batch_size), 0);
  }
  return padding;
}

}  // namespace attnbench
