// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/format_arrays.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/draft_tree.h"
#include "lib/batch/graph_padding.h"
#include "lib/batch/multi_item.h"
#include "lib/batch/two_batch_overlap.h"
#include "lib/index/csr.h"
#include "lib/index/kernel_arrays.h"
#include "lib/index/kv_splits.h"
#include "lib/index/local_attention.h"
#include "lib/index/page_table.h"

namespace attnbench {
namespace {

/// Keys of the longest request for which tables are wide enough.
std::int64_t longest(const IndexStep& step) {
  if (step.problem.recorded) return step.problem.limits.kv_len;
  std::int64_t keys = 0;
  for (std::int64_t r = 0; r < step.batch.batch_size; ++r) {
    keys = std::max(keys, step.batch.kv_len(r));
  }
  return keys;
}

/// An array in which a later step can have `each` elements of every request.
IndexArray growing(const IndexStep& step, IndexArray array, std::int64_t each) {
  if (step.problem.recorded) {
    array.most = std::max(array.most, step.problem.limits.requests * each);
  }
  return array;
}

PageTable pages_of(const IndexStep& step) {
  const std::int64_t page_size = step.problem.cache.page_size;
  return build_page_table(step.batch, page_size, -1, ceil_div(longest(step), page_size));
}

/// A page table and its lengths, by the names that a reader gives them.
IndexArrays table_arrays(const char* name, const char* lens, PageTable table) {
  return {index_array(name, std::move(table.page_table), table.width),
          index_array(lens, std::move(table.cache_seqlens))};
}

Fa3Decode fa3_decode(const IndexStep& step) {
  const AttentionLayer& layer = step.problem.layer;
  // It multiplies the latent part by queries of its own.
  const int latent = layer.shares_row_of_k_and_v() ? layer.head_dim_v : 0;
  return {.heads_q = layer.heads_q,
          .heads_kv = layer.heads_kv,
          .head_dim_qk = layer.head_dim_qk - latent,
          .head_dim_v = layer.head_dim_v,
          .element_bytes = static_cast<std::int64_t>(size_bytes(step.problem.cache.dtype)),
          .sliding_window_size = layer.sliding_window_size,
          .multiprocessors = step.multiprocessors};
}

/// The next of the sizes for which vLLM records graphs: 1, 2, 4 and multiples of 8.
std::int64_t captured_size(std::int64_t requests) {
  for (const std::int64_t size : {1, 2, 4}) {
    if (requests <= size) return size;
  }
  return round_up(requests, 8);
}

}  // namespace

IndexArrays req_to_token_arrays(const IndexStep& step) {
  const ReqToTokenPool& pool = *step.batch.req_to_token_pool;
  std::vector<std::int32_t> slots;
  for (std::int64_t row = 0; row < pool.rows(); ++row) {
    slots.insert(slots.end(), pool.row(row).begin(), pool.row(row).end());
  }
  return {index_array("req_pool_indices", step.batch.req_pool_indices),
          index_array("req_to_token", std::move(slots), pool.max_context_len())};
}

IndexArrays csr_arrays(const IndexStep& step) {
  const std::int64_t page_size = step.problem.cache.page_size;
  CsrIndices csr = build_csr(step.batch, page_size);
  return {index_array("qo_indptr", qo_indptr(step.batch)),
          index_array("kv_indptr", std::move(csr.kv_indptr)),
          growing(step, index_array("kv_indices", std::move(csr.kv_indices)),
                  ceil_div(longest(step), page_size)),
          index_array("kv_last_page_len", std::move(csr.kv_last_page_len))};
}

IndexArrays csr_prefix_arrays(const IndexStep& step) {
  CsrIndices csr = build_csr(step.batch, prefix_spans(step.batch));
  return {index_array("qo_indptr", qo_indptr(step.batch)),
          index_array("kv_indptr", std::move(csr.kv_indptr)),
          growing(step, index_array("kv_indices", std::move(csr.kv_indices)), longest(step))};
}

IndexArrays csr_window_arrays(const IndexStep& step) {
  KvSpans seen = window_spans(step.batch, step.problem.layer.sliding_window_size);
  CsrIndices csr = build_csr(step.batch, seen);
  return {index_array("window_kv_indptr", std::move(csr.kv_indptr)),
          growing(step, index_array("window_kv_indices", std::move(csr.kv_indices)), longest(step)),
          index_array("window_kv_offsets", std::move(seen.start))};
}

IndexArrays page_table_arrays(const IndexStep& step) {
  return table_arrays("page_table", "cache_seqlens", pages_of(step));
}

IndexArrays varlen_arrays(const IndexStep& step) {
  Varlen varlen = build_varlen(step.batch);
  return {index_array("cu_seqlens_q", std::move(varlen.cu_seqlens_q)),
          index_array("cu_seqlens_k", std::move(varlen.cu_seqlens_k)),
          index_number("max_seqlen_q", varlen.max_seqlen_q),
          index_number("max_seqlen_k", varlen.max_seqlen_k)};
}

IndexArrays block_table_arrays(const IndexStep& step) {
  return table_arrays("block_table", "seq_lens", pages_of(step));
}

IndexArrays slot_mapping_arrays(const IndexStep& step) {
  // vLLM's builder of cross layers lists the new encoders' slots (_get_cross_slot_mapping in
  // model_executor/layers/attention/cross_attention.py), SGLang's encoder_out_cache_loc.
  const bool is_cross = step.problem.layer.is_cross_attention;
  return {index_array("slot_mapping",
                      is_cross ? step.batch.encoder_out_cache_loc : step.batch.out_cache_loc)};
}

/// Splits that a request may have in SGLang's Triton backend: --triton-attention-num-kv-splits, and
/// more of latent rows, whose one KV head leaves most of a GPU idle (max_kv_splits in 0.5.17's
/// layers/attention/triton_backend.py; 32 keys are the kernel's block).
std::int64_t max_kv_splits(const IndexStep& step, std::span<const std::int32_t> lens) {
  constexpr std::int64_t kOfServer = 8, kBlock = 32;
  if (!step.problem.layer.shares_row_of_k_and_v() || lens.empty()) return kOfServer;
  const auto power_of_two = [](std::int64_t value) {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
  };
  const std::int64_t blocks = ceil_div(std::ranges::max(lens), kBlock);
  return std::max(kOfServer, std::min(power_of_two(step.multiprocessors), power_of_two(blocks)));
}

IndexArrays kv_splits_arrays(const IndexStep& step) {
  const AttentionLayer& layer = step.problem.layer;
  const std::vector<std::int32_t> lens = window_spans(step.batch, layer.sliding_window_size).len;
  std::vector<std::int32_t> deterministic, described;
  for (const std::int32_t len : lens) {
    deterministic.push_back(narrow_i32(deterministic_kv_splits(len)));
    described.push_back(narrow_i32(described_kv_splits(len)));
  }
  IndexArrays arrays = {
      index_array("num_kv_splits",
                  dynamic_kv_splits(lens, {.heads_q = layer.heads_q,
                                           .heads_kv = layer.heads_kv,
                                           .max_splits = max_kv_splits(step, lens),
                                           .multiprocessors = step.multiprocessors})),
      index_array("num_kv_splits_deterministic", std::move(deterministic)),
      index_array("num_kv_splits_as_described", std::move(described))};
  // FlashInfer plans decodes from a latent cache by another rule (its MLAPlan).
  if (!layer.shares_row_of_k_and_v()) {
    arrays.push_back(
        index_number("flashinfer_chunk_pages",
                     flashinfer_chunk_pages(whole_spans(step.batch).len,
                                            {.heads_q = layer.heads_q,
                                             .heads_kv = layer.heads_kv,
                                             .head_dim_v = layer.head_dim_v,
                                             .page_size = step.problem.cache.page_size,
                                             .sliding_window_size = layer.sliding_window_size,
                                             .multiprocessors = step.multiprocessors})));
  }
  const Fa3Decode fa3_launch = fa3_decode(step);
  if (step.problem.cache.layout != KvLayout::kRagged && fa3_launch.head_dim_qk <= 256) {
    Fa3Splits fa3 = fa3_kv_splits(whole_spans(step.batch).len, fa3_launch);
    arrays.push_back(index_number("fa3_num_splits", fa3.most));
    arrays.push_back(index_array("fa3_num_splits_dynamic", std::move(fa3.of_requests)));
  }
  return arrays;
}

IndexArrays flashmla_arrays(const IndexStep& step) {
  const AttentionLayer& layer = step.problem.layer;
  PageTable table = pages_of(step);
  const std::int64_t q_len = step.batch.batch_size == 0 ? 1 : step.batch.q_len(0);
  FlashMlaSchedule schedule = schedule_flashmla(
      table.cache_seqlens,
      flashmla_sm_parts(step.multiprocessors, q_len, layer.heads_q, layer.heads_kv));
  std::vector<std::int32_t> metadata;
  for (const FlashMlaPart& part : schedule.parts) {
    const auto words = part.words();
    metadata.insert(metadata.end(), words.begin(), words.end());
  }
  IndexArrays arrays = table_arrays("block_table", "cache_seqlens", std::move(table));
  arrays.push_back(index_array("tile_scheduler_metadata", std::move(metadata), 8));
  arrays.push_back(index_array("num_splits", std::move(schedule.num_splits)));
  return arrays;
}

IndexArrays trtllm_mla_arrays(const IndexStep& step) {
  const std::int64_t page_size = step.problem.cache.page_size;
  return table_arrays(
      "block_tables", "seq_lens",
      build_page_table(step.batch, page_size, -1, trtllm_padded_blocks(longest(step), page_size)));
}

IndexArrays local_attention_arrays(const IndexStep& step) {
  const std::int64_t chunk = step.problem.layer.attention_chunk;
  std::vector<std::int32_t> q_lens;
  for (std::int64_t r = 0; r < step.batch.batch_size; ++r) {
    q_lens.push_back(narrow_i32(step.batch.q_len(r)));
  }
  LocalAttentionBatch local = make_local_attention_virtual_batches(chunk, q_lens, pages_of(step));
  // The queries of a request can begin and end inside chunks.
  const std::int64_t chunks = ceil_div(step.problem.limits.q_len, chunk) + 1;
  return {
      growing(step, index_array("local_query_start_loc", std::move(local.cu_seqlens_q)),
              chunks + 1),
      growing(step, index_array("local_seqused_k", std::move(local.table.cache_seqlens)), chunks),
      growing(
          step,
          index_array("local_block_table", std::move(local.table.page_table), local.table.width),
          chunks * local.table.width)};
}

IndexArrays dual_chunk_arrays(const IndexStep& step) {
  DualChunkDecode decode = make_dual_chunk_decode(step.problem.layer.dual_chunk, pages_of(step));
  IndexArrays arrays =
      table_arrays("block_tables_intra", "seq_lens_intra", std::move(decode.intra));
  for (IndexArray& array :
       table_arrays("block_tables_succ", "seq_lens_succ", std::move(decode.succ))) {
    arrays.push_back(std::move(array));
  }
  arrays.push_back(index_array("seq_lens_inter", std::move(decode.inter)));
  return arrays;
}

IndexArrays multi_item_arrays(const IndexStep& step) {
  // Its kernels take them as uint32 and uint16.
  const auto widened = [](const auto& values) {
    return std::vector<std::int32_t>(values.begin(), values.end());
  };
  const MultiItemParams& items = *step.batch.multi_item;
  return {index_array("prefix_len_ptr", widened(items.prefix_len_ptr)),
          index_array("token_pos_in_items_ptr", widened(items.token_pos_in_items_ptr),
                      items.token_pos_in_items_len),
          index_number("token_pos_in_items_len", items.token_pos_in_items_len),
          index_array("max_item_len_ptr", widened(items.max_item_len_ptr)),
          index_array("positions", positions_beside_items(step.batch))};
}

IndexArrays swa_arrays(const IndexStep& step) {
  const std::int64_t page_size = step.problem.cache.page_size;
  const FullToSwaMapping mapping =
      map_window_pages(step.batch, step.problem.layer, page_size, step.num_pages);
  PageTable table =
      build_swa_page_table(step.batch, page_size, mapping, ceil_div(longest(step), page_size));
  std::vector<std::int64_t> written;
  for (const std::int64_t slot : step.batch.out_cache_loc) {
    written.push_back(mapping.translate(slot));
  }
  IndexArrays arrays = table_arrays("swa_page_table", "cache_seqlens", std::move(table));
  arrays.insert(arrays.begin(),
                index_array("full_to_swa_index_mapping",
                            std::vector(mapping.table().begin(), mapping.table().end())));
  arrays.push_back(index_array("swa_out_cache_loc", std::move(written)));
  return arrays;
}

IndexArrays tree_mask_arrays(const IndexStep& step) {
  const SpecInfo& spec = *step.batch.spec_info;
  const std::int64_t nodes = spec.draft_token_num, most = nodes * longest(step);
  PackedMask packed = pack_mask(spec.custom_mask, spec.mask_indptr);
  IndexArrays arrays = {
      growing(step, index_array("custom_mask", spec.custom_mask), most),
      index_array("mask_indptr", spec.mask_indptr),
      growing(step, index_array("packed_custom_mask", std::move(packed.bytes)), ceil_div(most, 8)),
      index_array("packed_mask_indptr", std::move(packed.indptr))};
  arrays.push_back(index_array("qlen_only", tree_visibility(spec), nodes));
  if (nodes <= kMostPackedTreeNodes) {
    std::vector<std::uint8_t> rows = pack_tree_rows(spec);
    const std::int64_t row_bytes = std::ssize(rows) / (step.batch.batch_size * nodes);
    arrays.push_back(index_array("qlen_only_bitpacking", std::move(rows), row_bytes));
  }
  arrays.push_back(index_array("retrive_index", spec.retrive_index));
  arrays.push_back(index_array("retrive_next_token", spec.retrive_next_token));
  arrays.push_back(index_array("retrive_next_sibling", spec.retrive_next_sibling));
  return arrays;
}

IndexArrays draft_table_arrays(const IndexStep& step) {
  const SpecInfo& spec = *step.batch.spec_info;
  DraftTable table = two_stage_draft_table(spec, step.batch.out_cache_loc);
  return {index_array("page_table", std::move(table.page_table), spec.draft_token_num),
          index_array("cache_seqlens", std::move(table.cache_seqlens))};
}

IndexArrays two_batch_overlap_arrays(const IndexStep& step) {
  const TwoBatchSplit split = two_batch_split(step.batch);
  return {index_number("tbo_split_seq_index", narrow_i32(split.requests)),
          index_number("tbo_split_token_index", narrow_i32(split.tokens))};
}

IndexArrays graph_padding_arrays(const IndexStep& step) {
  const std::int64_t requests = captured_size(step.batch.batch_size);
  ForwardBatch padded = pad_for_cuda_graph(step.batch, requests, 1);
  IndexArrays arrays = {index_array("req_pool_indices", std::move(padded.req_pool_indices)),
                        index_array("seq_lens", std::move(padded.seq_lens)),
                        index_array("out_cache_loc", std::move(padded.out_cache_loc)),
                        index_array("positions", std::move(padded.positions))};
  if (!padded.encoder_lens.empty()) {
    arrays.push_back(index_array("encoder_lens", std::move(padded.encoder_lens)));
  }
  if (padded.spec_info) {
    SpecInfo& spec = *padded.spec_info;
    arrays.push_back(index_array("custom_mask", std::move(spec.custom_mask)));
    if (step.problem.recorded) {
      arrays.back().most = requests * spec.draft_token_num * longest(step);
    }
    arrays.push_back(index_array("mask_indptr", std::move(spec.mask_indptr)));
  }
  return arrays;
}

}  // namespace attnbench
