// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/cost.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/batch/forward_batch.h"
#include "lib/cost/cache_reads.h"
#include "lib/cost/index_write_cost.h"

namespace attnbench {
namespace {

constexpr std::int64_t kLseBytes = 4;         // f32
constexpr std::int64_t kScaleBytes = 4;       // f32
constexpr std::int64_t kTableEntryBytes = 4;  // int32 page number
constexpr std::int64_t kListEntryBytes = 4;   // int32 in topk_indices and topk_length
constexpr std::int64_t kVersionBytes = 4;     // int32 of a unit, and of its representation
constexpr std::int64_t kSlotBytes = 8;        // int64 in out_cache_loc

/// Elements of one token's K and V over all heads; a latent row serves as both.
std::int64_t kv_elements(const Case& c) {
  const int dim_v = c.layer.shares_row_of_k_and_v() ? 0 : c.layer.head_dim_v;
  return std::int64_t{c.layer.heads_kv} * (c.layer.head_dim_qk + dim_v);
}

/// Of its rows in the cache, scales of their own included.
Count kv_bytes_per_key(const Case& c) {
  const bool latent = c.layer.shares_row_of_k_and_v();
  const BlockRow row = block_row(c.kv_cache.scales, c.layer.head_dim_v, c.layer.head_dim_qk);
  if (row.exists()) return Count(c.layer.heads_kv) * row.token_bytes();
  const std::int64_t scales = c.kv_cache.scales == KvScales::kToken ? (latent ? 1 : 2) : 0;
  return Count(kv_elements(c)) * size_bytes(c.kv_cache.dtype) +
         Count(c.layer.heads_kv) * (scales * kScaleBytes);
}

/// Of the scales of heads, and of requests, which attention and a KV write read.
Count bytes_of_head_scales(const Case& c) {
  const bool by_request = c.kv_cache.scales == KvScales::kRequest;
  if (!by_request && c.kv_cache.scales != KvScales::kHead) return 0;
  const std::int64_t rows = by_request ? std::ssize(c.requests) : 1;
  return Count(rows) * c.layer.heads_kv * (c.layer.shares_row_of_k_and_v() ? 1 : 2) * kScaleBytes;
}

Count bytes_of_q_scales(const Case& c) {
  if (c.fp8.q_scales == QScales::kTensor) return 0;
  const QScaleArray of_kind = q_scale_array(c.fp8, c.layer);
  return Count(of_kind.rows(std::ssize(c.requests), c.q_tokens())) * of_kind.columns() *
         kScaleBytes;
}

/// topk_indices, topk_length and the scores of weighed units, of all columns.
Count bytes_of_lists(const Case& c) {
  if (!c.layer.selection.exists()) return 0;
  return Count(c.q_tokens()) * c.layer.selection_groups() * (c.layer.selection.columns() + 1) *
         kListEntryBytes;
}

/// Q, O, LSE, the scales of heads, lists of chosen keys and the page-table entries of seen pages:
/// the same with and without sharing.
Count bytes_beside_kv(const Case& c, const Reads& reads) {
  const Count row = Count(c.layer.query_dim()) * size_bytes(c.q_dtype()) +
                    Count(c.layer.head_dim_v) * size_bytes(c.out_dtype());
  Count bytes = Count(c.q_tokens()) * c.layer.heads_q * (row + kLseBytes);
  bytes += bytes_of_q_scales(c) + bytes_of_head_scales(c);
  return bytes + bytes_of_lists(c) + reads.table_entries * kTableEntryBytes;
}

Cost sum_of(std::span<const Cost> costs) {
  Cost sum;
  for (const Cost& cost : costs) {
    for (const auto member :
         {&Cost::visible_pairs, &Cost::flops, &Cost::bytes_unique, &Cost::bytes_streamed,
          &Cost::kv_bytes_unique, &Cost::kv_bytes_streamed, &Cost::kv_bytes_written}) {
      sum.*member = (Count(sum.*member) + cost.*member).value();
    }
  }
  return sum;
}

Cost cost_of_parts(const std::vector<Case>& parts) {
  std::vector<Cost> costs;
  for (const Case& part : parts) costs.push_back(count_cost(part));
  return sum_of(costs);
}

/// k_new and v_new, their slots and the scales of heads are read, and rows of the cache are written
/// with the scales that they bring along.
void add_kv_write(const Case& c, Cost& cost) {
  const Count fresh = Count(kv_elements(c)) * size_bytes(c.dtype);
  Count keys = 0;
  for (const Request& r : c.requests) keys += r.new_keys();
  const Count read = keys * (fresh + kSlotBytes);
  const Count written = keys * kv_bytes_per_key(c);
  cost.kv_bytes_written = written.value();
  // Attention counts the written rows among those that it reads, and the scales of heads.
  const Count alone = read + written + bytes_of_head_scales(c);
  const std::int64_t more = attends(c.step) ? read.value() : alone.value();
  cost.bytes_unique = (Count(cost.bytes_unique) + more).value();
  cost.bytes_streamed = (Count(cost.bytes_streamed) + more).value();
  if (attends(c.step)) return;
  cost.kv_bytes_unique = cost.kv_bytes_streamed = cost.kv_bytes_written;
}

Cost count_attention(const Case& c) {
  const Reads reads = reads_of(c);
  const Count per_row = kv_bytes_per_key(c).value() / c.layer.heads_kv;
  const Count beside = bytes_beside_kv(c, reads);
  const Count unique = reads.unique_rows * per_row, streamed = reads.streamed_rows * per_row;
  const Count dims = c.layer.head_dim_qk + c.layer.head_dim_v;
  Cost cost;
  const std::int64_t groups = c.layer.selection_groups();
  cost.visible_pairs = ceil_div(reads.pairs.value(), groups);
  cost.flops = (Count(2) * (c.layer.heads_q / groups) * dims * reads.pairs).value();
  cost.kv_bytes_unique = unique.value();
  cost.kv_bytes_streamed = streamed.value();
  cost.bytes_unique = (unique + beside).value();
  cost.bytes_streamed = (streamed + beside).value();
  return cost;
}

/// Softmax and latent attention: work for each pair of a query token and a key.
Cost softmax_cost(const Case& c) {
  Cost cost;
  if (attends(c.step)) cost = count_attention(c);
  // The step's own tokens have no keys in a cross layer.
  if (writes_kv(c.step) && !c.layer.is_cross_attention) add_kv_write(c, cost);
  return cost;
}

/// A recurrent layer: work for each token, none for what came before.
Cost delta_net_cost(const Case& c) {
  const AttentionLayer& layer = c.layer;
  const std::int64_t f32 = size_bytes(DType::kF32);
  const Count state = Count(layer.head_dim_qk) * layer.head_dim_v;
  Count states = 0;
  for (const Request& request : c.requests) {
    if (request.q_len == 0) continue;
    states += request.prefix_len() > 0 ? 1 : 0;                          // read
    states += c.mode == ForwardMode::kTargetVerify ? request.q_len : 1;  // written
  }
  const Count state_bytes = states * layer.heads_out() * state * f32;
  // A head of lightning has one log decay, one of Mamba-2 A and D, and its tokens a beta.
  const bool is_delta_net = layer.is_delta_net();
  const std::int64_t gates = is_delta_net ? layer.gate_dims() + 1 : layer.has_skip() ? 1 : 0;
  const Count token_bytes = (Count(2 * layer.heads_k()) * layer.head_dim_qk +
                             Count(2 * layer.heads_out()) * layer.head_dim_v) *
                                size_bytes(c.dtype) +
                            Count(layer.heads_out()) * gates * f32;
  const Count parameters =
      is_delta_net ? 0 : Count(layer.heads_out()) * f32 * (layer.has_skip() ? 2 : 1);
  Cost cost;
  // Decay (one multiplication an element), S + k w, q^T S and a delta net's k^T S (two operations
  // each).
  cost.flops = (Count(is_delta_net ? 7 : 5) * layer.heads_out() * state * c.q_tokens()).value();
  cost.kv_bytes_unique = cost.kv_bytes_streamed = state_bytes.value();
  cost.bytes_unique = cost.bytes_streamed =
      (state_bytes + token_bytes * c.q_tokens() + parameters + Count(std::ssize(c.requests)) * f32)
          .value();
  return cost;
}

/// Of each request its length, its row of req_to_token and an entry of that for each page are read.
/// The pages are written, and of csr where those of each request end.
Cost index_cost(const Case& c) {
  const std::int64_t page = c.kv_cache.page_size;
  const Count requests = Count(std::ssize(c.requests)) + c.padding.requests;
  Count pages = Count(c.padding.requests) * ceil_div(std::int64_t{c.padding.seq_len}, page);
  for (const Request& r : c.requests) pages += ceil_div(r.kv_len, page);
  const Count read = (requests + requests + pages) * kTableEntryBytes;
  Count written = pages;
  if (c.index_form == IndexForm::kCsr) written += requests;
  Cost cost;
  cost.kv_bytes_written = (written * kTableEntryBytes).value();
  cost.bytes_unique = cost.bytes_streamed = (read + cost.kv_bytes_written).value();
  return cost;
}

/// By all queries.
Count units_seen(const Case& c) {
  Count seen = 0;
  for (const Request& r : c.requests) {
    for (std::int64_t token = 0; token < r.q_len; ++token) seen += scored_units(c, r, token);
  }
  return seen;
}

/// The logits that each query sees and how many they are are read, and lists and their lengths are
/// written.
Cost select_cost(const Case& c) {
  const Count seen = units_seen(c), tokens = Count(c.q_tokens()) + c.padding_q_tokens();
  const std::int64_t groups = c.layer.selection_groups();
  const Count read = (seen * groups + tokens) * size_bytes(DType::kF32);
  const Count written = tokens * groups * (c.layer.selection.columns() + 1) * kTableEntryBytes;
  Cost cost;
  cost.kv_bytes_written = written.value();
  cost.bytes_unique = cost.bytes_streamed = (read + written).value();
  return cost;
}

/// The index cache as the cache of a step whose keys are its rows: all heads share a row, and a
/// request's last query sees all that its others see.
Case over_index_cache(Case c) {
  const Selection pools = std::exchange(c.layer.selection, {});
  const std::int64_t window = pools.window;
  c.layer.heads_kv = 1;
  c.layer.compress_ratio = 0;  // whose rows have an index row each
  if (pools.compressed) c.layer.sliding_window_size = -1;
  for (std::int64_t* keys : {&c.kv_cache.page_size, &c.kv_cache.manager_page_size}) {
    *keys = pools.complete_pools(*keys);
  }
  for (SharedPrefix& prefix : c.prefixes) prefix.length = pools.complete_pools(prefix.length);
  for (Request& request : c.requests) {
    request.shared_len = pools.complete_pools(request.shared_len);
    request.kv_len = pools.complete_pools(std::max<std::int64_t>(request.kv_len - window, 0));
    request.q_len = std::min<std::int64_t>(request.q_len, 1);
    request.tree_parents.clear();
  }
  return c;
}

/// Keys that all queries see.
Count keys_seen(const Case& c) {
  Count seen = 0;
  for (const Request& r : c.requests) {
    for (std::int64_t token = 0; token < r.q_len; ++token) {
      seen += std::max<std::int64_t>(r.prefix_len() + token + 1, 0);
    }
  }
  return seen;
}

/// Queries with their weights, pages' numbers and each distinct row are read, and the logits that
/// queries see are written. A logit takes a product of each of its rows and each head's query;
/// where it is a maximum, rows are keys of bf16 without a scale, and a head has logits of its own.
/// A representation has rows of bf16 for each group and two versions; a group's heads may be summed
/// before they meet it. A label has the heavy channels of each KV head, and of queries these are
/// read, too.
Cost indexer_cost(const Case& c) {
  const Selection& selection = c.layer.selection;
  const Reads reads = reads_of(over_index_cache(c));
  const Count tokens = Count(c.q_tokens()) + c.padding_q_tokens();
  const std::int64_t heads = selection.index_heads;
  const std::int64_t dim = selection.scores_labels() ? selection.channels : IndexerInputs::kDim;
  const std::int64_t query_bytes =
      selection.scores_in_bf16() ? dim * size_bytes(DType::kBF16) : IndexerInputs::kKeyBytes;
  const std::int64_t rows = selection.rows_of_unit();
  const std::int64_t row_bytes =
      selection.scores_representations()
          ? c.layer.selection_groups() * rows * query_bytes + 2 * kVersionBytes
      : selection.scores_labels() ? c.layer.heads_kv * query_bytes
                                  : query_bytes;
  const std::int64_t channels =
      selection.scores_labels() ? c.layer.heads_kv * dim * kListEntryBytes : 0;
  const Count logits = units_seen(c) * c.layer.selection_groups() * size_bytes(DType::kF32);
  const Count rest = tokens * (heads * query_bytes + kTableEntryBytes) +
                     reads.table_entries * kTableEntryBytes + channels + logits;
  const Count products = selection.takes_maxima() ? keys_seen(c) : units_seen(c);
  Cost cost;
  cost.kv_bytes_written = logits.value();
  cost.bytes_unique = (reads.unique_rows * row_bytes + rest).value();
  cost.bytes_streamed = (reads.streamed_rows * row_bytes + rest).value();
  const std::int64_t of_unit =
      selection.score == SelectionScore::kGroup ? c.layer.selection_groups() : heads * rows;
  cost.flops = (products * of_unit * (2 * dim)).value();
  return cost;
}

/// All that the stages read and write. What one reads of what another has just written, logits and
/// lists, counts among what the step writes: no memory has to deliver it.
Cost pipeline_cost(const Case& c) {
  const Cost stages[] = {
      indexer_cost(with_step(c, StepPart::kIndexer)), select_cost(with_step(c, StepPart::kSelect)),
      softmax_cost(with_step(c, writes_kv(c.step) ? StepPart::kBoth : StepPart::kAttention))};
  Cost cost = sum_of(stages);
  const Count handed_on = Count(stages[0].kv_bytes_written) + bytes_of_lists(c);
  cost.kv_bytes_written = (Count(cost.kv_bytes_written) + handed_on).value();
  if (writes_index(c.step)) add_index_write(c, cost);
  return cost;
}

}  // namespace

Cost count_cost(const Case& c) {
  if (c.step == StepPart::kIndex) return index_cost(c);
  if (c.step == StepPart::kSelect) return select_cost(c);
  if (c.step == StepPart::kIndexer) return indexer_cost(c);
  if (writes_index(c.step) && !attends(c.step)) return index_write_cost(c);
  if (is_pipeline(c.step)) return pipeline_cost(c);
  if (!c.parts.empty()) return cost_of_parts(c.parts);
  return c.layer.is_recurrent() ? delta_net_cost(c) : softmax_cost(c);
}

double roofline_s(const Cost& cost, const Ceilings& ceilings) {
  const auto seconds = [](std::int64_t work, double rate) {
    return rate > 0 ? static_cast<double>(work) / rate : 0.0;
  };
  return std::max(seconds(cost.bytes_unique - cost.kv_bytes_written, ceilings.read_bytes_per_s),
                  seconds(cost.flops, ceilings.flop_per_s));
}

bool exceeds(std::int64_t work, double rate, double seconds) {
  // 2 %: what a ceiling measured beside the samples may itself be off by.
  constexpr double kTolerance = 1.02;
  return rate > 0 && static_cast<double>(work) > kTolerance * rate * seconds;
}

Ceilings ceilings_of_backend(const Ceilings& measured, DeviceKind kind,
                             std::span<const Numerics> numerics) {
  constexpr double kFp8OverBf16 = 2;
  const auto in_fp8 = [](const Numerics& step) {
    return size_bytes(step.qk_input) == 1 || size_bytes(step.p) == 1;
  };
  Ceilings ceilings = measured;
  if (kind == DeviceKind::kCuda && std::ranges::any_of(numerics, in_fp8)) {
    ceilings.flop_per_s *= kFp8OverBf16;
  }
  return ceilings;
}

}  // namespace attnbench
