// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/hybrid/batch_rows.h"

#include <cstddef>
#include <numeric>
#include <vector>

#include "lib/base/narrow.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {
namespace {

/// Neighbouring elements of a batch's array, which is empty where the step has none.
template <class T>
std::vector<T> some_of(const std::vector<T>& values, std::int64_t first, std::int64_t count) {
  if (values.empty()) return {};
  return {values.begin() + first, values.begin() + first + count};
}

template <class Byte>
BasicTensorView<Byte> rows_of(BasicTensorView<Byte> view, std::int64_t first, std::int64_t count) {
  if (view.data == nullptr) return view;
  view.data = view.row(first, 0);
  view.shape[0] = count;
  return view;
}

template <class T>
const T* at(const T* values, std::int64_t first) {
  return values == nullptr ? nullptr : values + first;
}

}  // namespace

BatchRows::BatchRows(const ForwardBatch& whole, std::int64_t first, std::int64_t count,
                     const Problem& problem, PlanMemory& memory)
    : problem_(problem) {
  std::int64_t token = 0, tokens = 0;  // the first one's, and how many there are
  for (std::int64_t r = 0; r < first; ++r) token += whole.q_len(r);
  std::vector<std::int32_t> qo_indptr{0};
  for (std::int64_t r = first; r < first + count; ++r) {
    tokens += whole.q_len(r);
    qo_indptr.push_back(narrow_i32(tokens));
  }
  batch_.forward_mode = problem.mode;
  batch_.batch_size = count;
  batch_.req_pool_indices = some_of(whole.req_pool_indices, first, count);
  batch_.seq_lens = some_of(whole.seq_lens, first, count);
  batch_.seq_lens_sum =
      std::accumulate(batch_.seq_lens.begin(), batch_.seq_lens.end(), std::int64_t{0});
  batch_.out_cache_loc = some_of(whole.out_cache_loc, token, tokens);
  batch_.positions = some_of(whole.positions, token, tokens);
  batch_.encoder_lens = some_of(whole.encoder_lens, first, count);
  batch_.spans = some_of(whole.spans, 2 * token, 2 * tokens);
  if (whole.chosen) batch_.chosen = whole.chosen->of_tokens(token, tokens);
  if (problem.mode != ForwardMode::kDecode) {
    batch_.extend_prefix_lens = some_of(whole.extend_prefix_lens, first, count);
    batch_.extend_seq_lens = some_of(whole.extend_seq_lens, first, count);
    batch_.extend_start_loc = some_of(qo_indptr, 0, count);
    batch_.extend_num_tokens = tokens;
  }
  batch_.problem = &problem_;
  batch_.req_to_token_pool = whole.req_to_token_pool;
  batch_.token_to_kv_pool = whole.token_to_kv_pool;
  if (problem.cache.scales == KvScales::kRequest) {
    const std::int64_t first_scale = first * problem.layer.heads_kv;
    pool_ = *whole.token_to_kv_pool;
    pool_.k_scales += first_scale;
    pool_.v_scales += first_scale;
    batch_.token_to_kv_pool = &pool_;
  }
  batch_.tensors = whole.tensors;
  AttentionTensors& tensors = batch_.tensors;
  for (ConstTensorView* view :
       {&tensors.q, &tensors.q_nope, &tensors.q_pe, &tensors.k_new, &tensors.v_new}) {
    *view = rows_of(*view, token, tokens);
  }
  tensors.out = rows_of(tensors.out, token, tokens);
  const QScaleArray q_scales = q_scale_array(problem.fp8, problem.layer);
  // Scales of heads have one row, that of all requests.
  if (q_scales.kind != QScales::kHead) {
    tensors.q_scales = at(tensors.q_scales, q_scales.rows(first, token) * q_scales.columns());
  }
  tensors.lse = rows_of(tensors.lse, token, tokens);
  if (whole.device_batch == nullptr) return;
  const DeviceBatch& device = *whole.device_batch;
  device_batch_ = device;
  device_batch_.req_pool_indices = at(device.req_pool_indices, first);
  device_batch_.block_table = at(device.block_table, first * device.block_table_width);
  device_batch_.out_cache_loc = at(device.out_cache_loc, token);
  device_batch_.kv_lens = at(device.kv_lens, first);
  device_batch_.positions = at(device.positions, token);
  device_batch_.spans = at(device.spans, 2 * token);
  const std::int64_t lists = token * problem.layer.selection_groups();
  device_batch_.topk_indices = at(device.topk_indices, lists * problem.layer.selection.topk);
  device_batch_.topk_length = at(device.topk_length, lists);
  device_batch_.topk_scores = at(device.topk_scores, lists * problem.layer.selection.topk);
  const std::size_t bytes = qo_indptr.size() * sizeof(std::int32_t);
  std::byte* const copied = memory.reserve_indices("qo_indptr", bytes);
  memory.device().copy_from_host(copied, qo_indptr.data(), bytes);
  device_batch_.qo_indptr = static_cast<const std::int32_t*>(static_cast<const void*>(copied));
  batch_.device_batch = &device_batch_;
}

}  // namespace attnbench
