// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/index_builders.h"

#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/draft_tree.h"
#include "lib/batch/graph_padding.h"
#include "lib/index/block_table.h"
#include "lib/index/csr.h"
#include "lib/index/flashmla.h"
#include "lib/index/kv_splits.h"
#include "lib/index/local_attention.h"
#include "lib/index/page_table.h"
#include "lib/index/swa_pool.h"
#include "lib/index/varlen.h"
#include "lib/scenario/cascade_choice.h"

namespace attnbench {
namespace {

std::vector<std::vector<int>> trees_of(const Case& c) {
  std::vector<std::vector<int>> trees;
  for (const Request& request : c.requests) trees.push_back(request.tree_parents);
  return trees;
}

/// The next of the sizes for which vLLM records graphs: 1, 2, 4 and multiples of 8.
std::int64_t captured_size(std::int64_t requests) {
  for (const std::int64_t size : {1, 2, 4}) {
    if (requests <= size) return size;
  }
  return round_up(requests, 8);
}

}  // namespace

IndexArrays req_to_token_arrays(const Case&, const BatchLayout& layout) {
  const ReqToTokenPool& pool = layout.req_to_token_pool;
  std::vector<std::int32_t> slots;
  for (std::int64_t row = 0; row < pool.rows(); ++row) {
    slots.insert(slots.end(), pool.row(row).begin(), pool.row(row).end());
  }
  return {index_array("req_pool_indices", layout.batch.req_pool_indices),
          index_array("req_to_token", slots, pool.max_context_len())};
}

IndexArrays csr_arrays(const Case& c, const BatchLayout& layout) {
  const CsrIndices csr = build_csr(layout.batch, c.kv_cache.page_size);
  return {index_array("qo_indptr", qo_indptr(layout.batch)),
          index_array("kv_indptr", csr.kv_indptr), index_array("kv_indices", csr.kv_indices),
          index_array("kv_last_page_len", csr.kv_last_page_len)};
}

IndexArrays csr_prefix_arrays(const Case&, const BatchLayout& layout) {
  const CsrIndices csr = build_csr(layout.batch, prefix_spans(layout.batch));
  return {index_array("qo_indptr", qo_indptr(layout.batch)),
          index_array("kv_indptr", csr.kv_indptr), index_array("kv_indices", csr.kv_indices)};
}

IndexArrays csr_window_arrays(const Case& c, const BatchLayout& layout) {
  const KvSpans seen = window_spans(layout.batch, c.layer.sliding_window_size);
  const CsrIndices csr = build_csr(layout.batch, seen);
  return {index_array("window_kv_indptr", csr.kv_indptr),
          index_array("window_kv_indices", csr.kv_indices),
          index_array("window_kv_offsets", seen.start)};
}

IndexArrays page_table_arrays(const Case& c, const BatchLayout& layout) {
  const PageTable table = build_page_table(layout.batch, c.kv_cache.page_size);
  return {index_array("page_table", table.page_table, table.width),
          index_array("cache_seqlens", table.cache_seqlens)};
}

IndexArrays varlen_arrays(const Case&, const BatchLayout& layout) {
  const Varlen varlen = build_varlen(layout.batch);
  return {index_array("cu_seqlens_q", varlen.cu_seqlens_q),
          index_array("cu_seqlens_k", varlen.cu_seqlens_k),
          index_number("max_seqlen_q", varlen.max_seqlen_q),
          index_number("max_seqlen_k", varlen.max_seqlen_k)};
}

IndexArrays block_table_arrays(const Case& c, const BatchLayout& layout) {
  const PageTable table = build_block_table(layout.batch, c.kv_cache.page_size);
  return {index_array("block_table", table.page_table, table.width),
          index_array("seq_lens", table.cache_seqlens)};
}

IndexArrays slot_mapping_arrays(const Case& c, const BatchLayout& layout) {
  const ForwardBatch& batch = layout.batch;
  const PageTable table = build_block_table(batch, c.kv_cache.page_size);
  std::vector<std::int64_t> slots;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    // Places among the keys, not positions: the siblings of a draft tree share a position.
    std::vector<std::int64_t> places(to_size(batch.q_len(r)));
    for (std::size_t i = 0; i < places.size(); ++i) {
      places[i] = batch.kv_len(r) - batch.q_len(r) + static_cast<std::int64_t>(i);
    }
    const auto written = slot_mapping(table.row(r), places, c.kv_cache.page_size);
    slots.insert(slots.end(), written.begin(), written.end());
  }
  return {index_array("slot_mapping", slots)};
}

IndexArrays kv_splits_arrays(const Case& c, const BatchLayout& layout) {
  const std::vector<std::int32_t> lens =
      window_spans(layout.batch, c.layer.sliding_window_size).len;
  std::vector<std::int32_t> deterministic;
  for (const std::int32_t len : lens) {
    deterministic.push_back(narrow_i32(deterministic_kv_splits(len)));
  }
  return {index_array("num_kv_splits",
                      dynamic_kv_splits(lens, {.heads_q = c.layer.heads_q,
                                               .heads_kv = c.layer.heads_kv,
                                               .multiprocessors = kUsualMultiprocessors})),
          index_array("num_kv_splits_deterministic", deterministic)};
}

IndexArrays flashmla_arrays(const Case& c, const BatchLayout& layout) {
  const PageTable table = build_block_table(layout.batch, c.kv_cache.page_size);
  const std::int64_t q_len = c.requests.empty() ? 1 : layout.batch.q_len(0);
  const FlashMlaSchedule schedule = schedule_flashmla(
      table.cache_seqlens,
      flashmla_sm_parts(kUsualMultiprocessors, q_len, c.layer.heads_q, c.layer.heads_kv));
  std::vector<std::int32_t> metadata;
  for (const FlashMlaPart& part : schedule.parts) {
    const auto words = part.words();
    metadata.insert(metadata.end(), words.begin(), words.end());
  }
  return {index_array("block_table", table.page_table, table.width),
          index_array("cache_seqlens", table.cache_seqlens),
          index_array("tile_scheduler_metadata", metadata, 8),
          index_array("num_splits", schedule.num_splits)};
}

IndexArrays trtllm_mla_arrays(const Case& c, const BatchLayout& layout) {
  const PageTable table = build_trtllm_block_table(layout.batch, c.kv_cache.page_size);
  return {index_array("block_tables", table.page_table, table.width),
          index_array("seq_lens", table.cache_seqlens)};
}

IndexArrays local_attention_arrays(const Case& c, const BatchLayout& layout) {
  std::vector<std::int32_t> q_lens;
  for (const Request& request : c.requests) {
    q_lens.push_back(narrow_i32(request.q_len));
  }
  const LocalAttentionBatch local = make_local_attention_virtual_batches(
      c.attention_chunk, q_lens, build_page_table(layout.batch, c.kv_cache.page_size));
  return {index_array("local_query_start_loc", local.cu_seqlens_q),
          index_array("local_seqused_k", local.table.cache_seqlens),
          index_array("local_block_table", local.table.page_table, local.table.width)};
}

IndexArrays swa_arrays(const Case& c, const BatchLayout& layout) {
  const std::int64_t page_size = c.kv_cache.page_size;
  const FullToSwaMapping mapping =
      map_window_pages(layout.batch, c.layer.sliding_window_size, page_size, layout.num_pages);
  const PageTable table = build_swa_page_table(layout.batch, page_size, mapping);
  std::vector<std::int64_t> written;
  for (const std::int64_t slot : layout.batch.out_cache_loc) {
    written.push_back(mapping.translate(slot));
  }
  return {index_array("full_to_swa_index_mapping", mapping.table()),
          index_array("swa_page_table", table.page_table, table.width),
          index_array("cache_seqlens", table.cache_seqlens),
          index_array("swa_out_cache_loc", written)};
}

IndexArrays tree_mask_arrays(const Case& c, const BatchLayout& layout) {
  const SpecInfo& spec = *layout.batch.spec_info;
  const PackedMask packed = pack_mask(spec.custom_mask, spec.mask_indptr);
  IndexArrays arrays = {index_array("custom_mask", spec.custom_mask),
                        index_array("mask_indptr", spec.mask_indptr),
                        index_array("packed_custom_mask", packed.bytes),
                        index_array("packed_mask_indptr", packed.indptr)};
  if (spec.draft_token_num <= kMostPackedTreeNodes) {
    std::vector<std::uint8_t> rows;
    for (const std::vector<int>& parents : trees_of(c)) {
      const auto of_one = pack_tree_rows(parents);
      rows.insert(rows.end(), of_one.begin(), of_one.end());
    }
    const std::int64_t nodes = std::ssize(c.requests) * spec.draft_token_num;
    arrays.push_back(index_array("qlen_only_bitpacking", rows, std::ssize(rows) / nodes));
  }
  arrays.push_back(index_array("retrive_index", spec.retrive_index));
  arrays.push_back(index_array("retrive_next_token", spec.retrive_next_token));
  arrays.push_back(index_array("retrive_next_sibling", spec.retrive_next_sibling));
  return arrays;
}

IndexArrays draft_table_arrays(const Case& c, const BatchLayout& layout) {
  const DraftTable table = two_stage_draft_table(trees_of(c), layout.batch.out_cache_loc);
  return {index_array("page_table", table.page_table, layout.batch.spec_info->draft_token_num),
          index_array("cache_seqlens", table.cache_seqlens)};
}

IndexArrays graph_padding_arrays(const Case& c, const BatchLayout& layout) {
  const ForwardBatch padded =
      pad_for_cuda_graph(layout.batch, captured_size(std::ssize(c.requests)), 1);
  IndexArrays arrays = {index_array("req_pool_indices", padded.req_pool_indices),
                        index_array("seq_lens", padded.seq_lens),
                        index_array("out_cache_loc", padded.out_cache_loc),
                        index_array("positions", padded.positions)};
  if (!padded.encoder_lens.empty()) {
    arrays.push_back(index_array("encoder_lens", padded.encoder_lens));
  }
  if (padded.spec_info) {
    arrays.push_back(index_array("custom_mask", padded.spec_info->custom_mask));
    arrays.push_back(index_array("mask_indptr", padded.spec_info->mask_indptr));
  }
  return arrays;
}

}  // namespace attnbench
