// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>

#include "backends/cheating_plugin/cheats.h"

namespace cheats {
namespace {

std::uint16_t* row_of(const attnbench_tensor& tensor, std::int64_t i, std::int64_t j,
                      std::int64_t k) {
  return static_cast<std::uint16_t*>(tensor.data) + i * tensor.stride[0] + j * tensor.stride[1] +
         k * tensor.stride[2];
}

}  // namespace

float widened(std::uint16_t bf16) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bf16) << 16);
}

std::uint16_t rounded_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void pace(const Planned& planned, double begin_s) {
  const double enough = std::max(planned.bytes / 40e9, planned.flops / 5e11);
  while (now_s() - begin_s < enough) {
  }
}

std::int64_t Planned::visible(std::int64_t token) const {
  const auto request = static_cast<std::size_t>(request_of[static_cast<std::size_t>(token)]);
  return kv_lens[request] - (q_start[request + 1] - 1 - token);
}

std::uint16_t* Planned::q_row(std::int64_t token, int head) const {
  return row_of(tensors[ATTNBENCH_Q], token, head, 0);
}

std::uint16_t* Planned::out_row(std::int64_t token, int head) const {
  return row_of(tensors[ATTNBENCH_OUT], token, head, 0);
}

float* Planned::lse(std::int64_t token, int head) const {
  const attnbench_tensor& lse = tensors[ATTNBENCH_LSE];
  if (lse.data == nullptr) return nullptr;
  return static_cast<float*>(lse.data) + token * lse.stride[0] + head * lse.stride[1];
}

std::uint16_t* Planned::cache_row(int role, std::int64_t request, std::int64_t position,
                                  int kv_head) const {
  const attnbench_tensor& cache = tensors[role];
  const std::int64_t page_size = cache.shape[1];
  return row_of(cache, pages[page_begin[request] + position / page_size], position % page_size,
                kv_head);
}

void attend(const Planned& planned, std::int64_t token, int head, const Keeps& keeps,
            const KeepsValue& keeps_value) {
  const auto dims_k = static_cast<std::size_t>(planned.problem.head_dim_qk);
  const auto dims_v = static_cast<std::size_t>(planned.problem.head_dim_v);
  const std::int64_t request = planned.request_of[static_cast<std::size_t>(token)];
  const int kv_head = head / (planned.problem.heads_q / planned.problem.heads_kv);
  const std::int64_t visible = planned.visible(token);
  const std::uint16_t* const q = planned.q_row(token, head);
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  std::vector<float> logits(static_cast<std::size_t>(visible), kNone);
  float top = kNone;
  for (std::int64_t j = 0; j < visible; ++j) {
    if (keeps && !keeps(j)) continue;
    const std::uint16_t* const k = planned.cache_row(ATTNBENCH_K_CACHE, request, j, kv_head);
    float sum = 0;
    for (std::size_t d = 0; d < dims_k; ++d) sum += widened(q[d]) * widened(k[d]);
    logits[static_cast<std::size_t>(j)] = sum * planned.logit_scale;
    top = std::max(top, sum * planned.logit_scale);
  }
  std::vector<float> out(dims_v, 0);
  float denominator = 0;
  for (std::int64_t j = 0; j < visible; ++j) {
    const float weight = std::exp(logits[static_cast<std::size_t>(j)] - top);
    if (!(weight > 0)) continue;
    denominator += weight;
    if (keeps_value && !keeps_value(weight)) continue;
    const std::uint16_t* const v = planned.cache_row(ATTNBENCH_V_CACHE, request, j, kv_head);
    for (std::size_t d = 0; d < dims_v; ++d) out[d] += weight * widened(v[d]);
  }
  std::uint16_t* const to = planned.out_row(token, head);
  for (std::size_t d = 0; d < dims_v; ++d) {
    to[d] = rounded_to_bf16(denominator > 0 ? out[d] / denominator * planned.v_scale : 0);
  }
  if (float* const lse = planned.lse(token, head)) *lse = top + std::log(denominator);
}

void attend_all(const Planned& planned, const Keeps& keeps) {
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int head = 0; head < planned.heads(); ++head) attend(planned, token, head, keeps);
  }
}

void put_constant(const Planned& planned, std::int64_t token, int head, float value, float lse) {
  std::fill_n(planned.out_row(token, head), planned.problem.head_dim_v, rounded_to_bf16(value));
  if (float* const to = planned.lse(token, head)) *to = lse;
}

void honest(Planned& planned) { attend_all(planned); }

}  // namespace cheats
