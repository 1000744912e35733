// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/torch_native/torch_native.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <span>

#include "backends/common/kv_convert.h"
#include "backends/common/visibility.h"
#include "lib/base/int_math.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/kv_row_codec.h"

namespace attnbench::torch_native {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Map<Matrix>;
using TotalsView =
    Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// Keys whose terms are added up one after another in f32, before their sum is added to the
/// others'. Through a chain of 100k keys f32 loses what an error bound allows. PyTorch's kernels
/// keep chains short, too: cascade_sum (aten/src/ATen/native/cpu/SumKernel.cpp) adds in levels, and
/// flash attention (FlashAttentionKernel.cpp) in blocks of 512 keys.
constexpr std::int64_t kChain = 512;

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// The LSE of keys, `row` having their logits; -inf hides a key.
float lse_of_keys(const float* row, std::int64_t keys) {
  const float highest = keys > 0 ? *std::max_element(row, row + keys) : kMinusInfinity;
  if (highest == kMinusInfinity) return kMinusInfinity;
  double total = 0;
  for (std::int64_t j = 0; j < keys; ++j) total += static_cast<double>(std::exp(row[j] - highest));
  return highest + static_cast<float>(std::log(total));
}

/// Turns q.k of one row into softmax weights in place; returns the row's LSE, which includes the
/// sink unless keys are chosen. Keys that are not visible get weight 0. If `chosen` is not null, it
/// is added to the logits: -inf for a key that is not on the list, ln n for one that is n times.
float softmax_row(float* row, std::int64_t keys, const Visibility& seen, const float* chosen,
                  const AttentionLayer& layer, int head, float scale, float temperature,
                  const float* sink) {
  const auto cap = static_cast<float>(layer.logit_cap);
  const float slope = layer.has_alibi ? static_cast<float>(alibi_slope(layer, head)) : 0.0f;
  float highest = sink != nullptr ? *sink : kMinusInfinity;
  for (std::int64_t j = 0; j < keys; ++j) {
    float logit = row[j] * scale;
    if (cap > 0) logit = cap * std::tanh(logit / cap);
    logit *= temperature;
    logit -= slope * static_cast<float>(std::abs(seen.key_position(j) - seen.position));
    const float of_list = chosen != nullptr ? chosen[j] : 0;
    row[j] = seen.sees(j) && of_list >= 0 ? logit + of_list : kMinusInfinity;
    highest = std::max(highest, row[j]);
  }
  if (highest == kMinusInfinity) {  // an empty row
    std::fill(row, row + keys, 0.0f);
    return kMinusInfinity;
  }
  const float of_keys = chosen != nullptr ? lse_of_keys(row, keys) : 0;
  for (std::int64_t j = 0; j < keys; ++j) row[j] = std::exp(row[j] - highest);
  double total = sink != nullptr ? std::exp(*sink - highest) : 0.0f;
  for (std::int64_t begin = 0; begin < keys; begin += kChain) {
    total += std::accumulate(row + begin, row + std::min(keys, begin + kChain), 0.0f);
  }
  const auto sum = static_cast<float>(total);
  for (std::int64_t j = 0; j < keys; ++j) row[j] /= sum;
  return chosen != nullptr ? of_keys : highest + std::log(sum);
}

/// One row as floats. k_scale and v_scale, the only ones that need not be short, join sums later,
/// and so do those of requests.
void read_row(const KvPool& pool, KvPart part, std::int64_t slot, int head, std::span<float> row) {
  const bool later = pool.scales == KvScales::kTensor || pool.scales == KvScales::kRequest;
  if (!later) return decode_kv_row(pool, part, slot, head, row);
  if (!pool.has_plain_rows()) return load_kv_row(pool, part, slot, head, row);
  widen_row(pool.dtype, part == KvPart::kKey ? pool.k_row(slot, head) : pool.v_row(slot, head),
            row.data(), std::ssize(row));
}

class PlannedDense final : public Plan {
 public:
  PlannedDense(const ForwardBatch& batch, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  /// Dense row-major matrices in the memory of the plan.
  struct Scratch {
    double* total = nullptr;  ///< [kBlockRows, dv] of O, where there are many keys
    float* k = nullptr;       ///< [max kv_len, dk]
    float* v = nullptr;       ///< [max kv_len, dv]
    float* q = nullptr;       ///< [kBlockRows, dk]
    float* scores = nullptr;  ///< [kBlockRows, max kv_len]
    float* out = nullptr;     ///< [kBlockRows, dv]
    float* chosen = nullptr;  ///< [max kv_len] of a row: what its list adds to the logits
  };
  static constexpr std::int64_t kBlockRows = 64;

  void gather(std::int64_t request, int kv_head) const;
  /// One request under one query head, kBlockRows queries at a time.
  void attend(std::int64_t request, int head) const;
  /// out = weights * v.
  void weigh(std::int64_t count, std::int64_t keys, std::int64_t dv) const;
  /// What the row's list adds to the logits; null where the layer has no selection.
  [[nodiscard]] const float* mark_chosen(std::int64_t request, std::int64_t token, int head) const;
  void finish_row(std::int64_t request, std::int64_t token, int head, std::int64_t row) const;
  const ForwardBatch& batch_;
  Scratch scratch_;
};

PlannedDense::PlannedDense(const ForwardBatch& batch, PlanMemory& memory) : batch_(batch) {
  const AttentionLayer& layer = batch.problem->layer;
  std::int64_t keys = 0;
  for (std::int64_t r = 0; r < batch_.batch_size; ++r) keys = std::max(keys, batch_.kv_len(r));
  const std::int64_t dk = layer.head_dim_qk, dv = layer.head_dim_v;
  const std::int64_t totals = 2 * kBlockRows * dv;  // in floats
  const std::int64_t marks = layer.selection.exists() ? keys : 0;
  const std::int64_t floats = totals + keys * (dk + dv) + kBlockRows * (dk + keys + dv) + marks;
  auto* next =
      reinterpret_cast<float*>(memory.reserve(static_cast<std::size_t>(floats) * sizeof(float)));
  const auto take = [&next](std::int64_t n) {
    float* taken = next;
    next += n;
    return taken;
  };
  auto* const first = reinterpret_cast<double*>(take(totals));
  scratch_ = {first,
              take(keys * dk),
              take(keys * dv),
              take(kBlockRows * dk),
              take(kBlockRows * keys),
              take(kBlockRows * dv),
              take(marks)};
}

void PlannedDense::gather(std::int64_t request, int kv_head) const {
  const KvPool& pool = *batch_.token_to_kv_pool;
  const auto slots =
      batch_.req_to_token_pool->row(batch_.req_pool_indices[static_cast<std::size_t>(request)]);
  const std::int64_t dk = batch_.problem->layer.head_dim_qk, dv = batch_.problem->layer.head_dim_v;
  const std::int64_t keys = batch_.kv_len(request);
  for (std::int64_t j = 0; j < keys; ++j) {
    const std::int64_t slot = slots[static_cast<std::size_t>(j)];
    read_row(pool, KvPart::kKey, slot, kv_head, {scratch_.k + j * dk, to_size(dk)});
    read_row(pool, KvPart::kValue, slot, kv_head, {scratch_.v + j * dv, to_size(dv)});
  }
}

/// Of K, or of V, where the rows as floats are without it.
float scale_left_out(const KvPool& pool, KvPart part, std::int64_t request, int head) {
  if (pool.scales != KvScales::kTensor && pool.scales != KvScales::kRequest) return 1;
  return part == KvPart::kKey ? pool.shared_k_scale(request, head)
                              : pool.shared_v_scale(request, head);
}

const float* PlannedDense::mark_chosen(std::int64_t request, std::int64_t token, int head) const {
  if (!batch_.chosen) return nullptr;
  const std::int64_t keys = batch_.kv_len(request), unit = batch_.chosen->unit;
  std::fill_n(scratch_.chosen, keys, 0.0f);
  const int group = batch_.problem->layer.selection_group(head);
  for (const std::int64_t entry :
       listed_units(batch_, first_token(batch_, request) + token, group)) {
    if (entry < 0) continue;
    const std::int64_t end = std::min((entry + 1) * unit, keys);
    for (std::int64_t j = entry * unit; j < end; ++j) scratch_.chosen[j] += 1;
  }
  for (float& times : std::span(scratch_.chosen, to_size(keys))) times = std::log(times);
  return scratch_.chosen;
}

void PlannedDense::finish_row(std::int64_t request, std::int64_t token, int head,
                              std::int64_t row) const {
  const std::int64_t keys = batch_.kv_len(request), dv = batch_.problem->layer.head_dim_v;
  const KvPool& pool = *batch_.token_to_kv_pool;
  const Visibility seen = visibility_of(batch_, batch_.problem->layer, request, token);
  const int kv_head = head / batch_.problem->layer.group_size();
  const std::int64_t t = first_token(batch_, request) + token;
  const float scale = static_cast<float>(batch_.problem->layer.scale) * batch_.tensors.q_scale *
                      q_scale_array(batch_).of(request, t, head) *
                      scale_left_out(pool, KvPart::kKey, request, kv_head);
  const std::int64_t place = keys - batch_.q_len(request) + token;
  const auto temperature = static_cast<float>(logit_temperature(batch_.problem->layer, place));
  const float* sink = batch_.problem->layer.has_sinks ? batch_.tensors.sinks + head : nullptr;
  const float lse =
      softmax_row(scratch_.scores + row * keys, keys, seen, mark_chosen(request, token, head),
                  batch_.problem->layer, head, scale, temperature, sink);
  std::memcpy(batch_.tensors.lse.row(t, head), &lse, sizeof lse);
  if (keys == 0) std::fill_n(scratch_.out + row * dv, dv, 0.0f);
}

void PlannedDense::weigh(std::int64_t count, std::int64_t keys, std::int64_t dv) const {
  const MatrixView weights(scratch_.scores, count, keys), v(scratch_.v, keys, dv);
  MatrixView out(scratch_.out, count, dv);
  if (keys <= kChain) {
    out.noalias() = weights * v;
    return;
  }
  TotalsView total(scratch_.total, count, dv);
  total.setZero();
  for (std::int64_t begin = 0; begin < keys; begin += kChain) {
    const std::int64_t size = std::min(kChain, keys - begin);
    out.noalias() = weights.middleCols(begin, size) * v.middleRows(begin, size);
    total += out.cast<double>();
  }
  out = total.cast<float>();
}

void PlannedDense::attend(std::int64_t request, int head) const {
  const KvPool& pool = *batch_.token_to_kv_pool;
  const std::int64_t dk = batch_.problem->layer.head_dim_qk, dv = batch_.problem->layer.head_dim_v;
  const std::int64_t keys = batch_.kv_len(request), q_len = batch_.q_len(request);
  const std::int64_t first = first_token(batch_, request);
  // V is the head of the K row under MLA, stored through K's scale.
  const bool of_k = batch_.problem->layer.shares_row_of_k_and_v();
  const int kv_head = head / batch_.problem->layer.group_size();
  const float factor =
      scale_left_out(pool, of_k ? KvPart::kKey : KvPart::kValue, request, kv_head) /
      batch_.tensors.out_scale;
  const MatrixView k(scratch_.k, keys, dk);
  const std::int64_t group = batch_.problem->layer.group_size();
  for (std::int64_t begin = 0, end = 0; begin < q_len; begin = end) {
    end =
        tile_end(batch_, batch_.problem->layer, request, begin * group, kBlockRows * group) / group;
    const std::int64_t count = end - begin;
    MatrixView scores(scratch_.scores, count, keys), out(scratch_.out, count, dv);
    for (const VariantKeys& part :
         variant_keys(batch_.problem->layer.dual_chunk, keys - q_len + begin, 0, keys)) {
      for (std::int64_t i = 0; i < count; ++i) {
        const ConstTensorView& queries = batch_.tensors.q;
        widen_row(
            queries.dtype,
            queries.row(first + begin + i, head) + part.variant * dk * size_bytes(queries.dtype),
            scratch_.q + i * dk, dk);
      }
      const MatrixView q(scratch_.q, count, dk);
      const std::int64_t size = part.end - part.begin;
      scores.middleCols(part.begin, size).noalias() =
          q * k.middleRows(part.begin, size).transpose();
    }
    for (std::int64_t i = 0; i < count; ++i) finish_row(request, begin + i, head, i);
    if (keys > 0) weigh(count, keys, dv);
    for (std::int64_t i = 0; i < count; ++i) {
      std::byte* to = batch_.tensors.out.row(first + begin + i, head);
      for (std::int64_t d = 0; d < dv; ++d) {
        store(batch_.tensors.out.dtype, to + d * size_bytes(batch_.tensors.out.dtype),
              out(i, d) * factor);
      }
    }
  }
}

void PlannedDense::run(Stream&) {
  const int group = batch_.problem->layer.group_size();
  for (std::int64_t r = 0; r < batch_.batch_size; ++r) {
    for (int kv_head = 0; kv_head < batch_.problem->layer.heads_kv; ++kv_head) {
      gather(r, kv_head);
      for (int g = 0; g < group; ++g) attend(r, kv_head * group + g);
    }
  }
}

}  // namespace

TorchNativeBackend::TorchNativeBackend() {
  info_.name = "torch_native";
  info_.version = "1";
  info_.description = "gathers each request's pages, dense scores with Eigen, one thread";
  info_.index_format = "req_to_token";
  info_.device = DeviceKind::kCpu;
  info_.reads_fp8_queries = info_.writes_fp8_outputs = true;
  info_.reads_lists_at_run = true;
}

std::unique_ptr<Plan> TorchNativeBackend::plan(const ForwardBatch& batch, PlanMemory& memory) {
  return std::make_unique<PlannedDense>(batch, memory);
}

}  // namespace attnbench::torch_native
