// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/host_indices.h"

#include <utility>

#include "lib/base/narrow.h"
#include "lib/index/csr.h"
#include "lib/index/page_table.h"

namespace attnbench {

HostIndices::HostIndices(const ForwardBatch& batch, std::int64_t page_size)
    : qo_indptr_(qo_indptr(batch)) {
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    kv_lens_.push_back(narrow_i32(batch.kv_len(r)));
  }
  batch_.kv_lens = kv_lens_.data();
  batch_.qo_indptr = qo_indptr_.data();
  batch_.positions = batch.positions.data();
  if (batch.state_pool != nullptr) {
    batch_.state_indices = batch.state_indices.data();
    batch_.has_initial_state = batch.has_initial_state.data();
    if (batch.spec_info) {
      batch_.retrieve_parent_token = batch.spec_info->retrieve_parent_token.data();
    }
    return;
  }
  PageTable pages = build_page_table(batch, page_size);
  block_table_ = std::move(pages.page_table);
  batch_.block_table = block_table_.data();
  batch_.block_table_width = pages.width;
  const ReqToTokenPool& pool = *batch.req_to_token_pool;
  batch_.req_to_token = pool.row(0).data();  // rows follow one another
  batch_.req_to_token_stride = pool.max_context_len();
  batch_.req_pool_indices = batch.req_pool_indices.data();
  batch_.out_cache_loc = batch.out_cache_loc.data();
  if (!batch.spans.empty()) batch_.spans = batch.spans.data();
  if (batch.chosen) {
    batch_.topk_indices = batch.chosen->indices.data();
    batch_.topk_length = batch.chosen->lengths.data();
    if (!batch.chosen->scores.empty()) batch_.topk_scores = batch.chosen->scores.data();
  }
  if (!batch.spec_info || !batch.encoder_lens.empty()) return;
  batch_.custom_mask = batch.spec_info->custom_mask.data();
  batch_.mask_indptr = batch.spec_info->mask_indptr.data();
}

}  // namespace attnbench
