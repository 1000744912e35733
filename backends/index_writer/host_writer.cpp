// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "backends/index_writer/index_writer.h"
#include "lib/base/dtype.h"
#include "lib/base/worth_a_team.h"
#include "lib/batch/forward_batch.h"

namespace attnbench::index_writer {
namespace {

constexpr std::int64_t kDim = IndexerInputs::kDim;
constexpr std::int64_t kNewKeyBytes = kDim * size_bytes(DType::kBF16);

using Numbers = std::array<float, kDim>;

Numbers numbers_at(const std::byte* row) {
  Numbers numbers{};
  std::array<std::uint16_t, kDim> bits{};
  std::memcpy(bits.data(), row, sizeof bits);
  std::ranges::transform(bits, numbers.begin(), bf16_value);
  return numbers;
}

/// e^x for -2^22 < x <= 0, of each number, error below 2 ulp, and 2^-126 where it is less: without
/// a branch, so that compilers take several at once. Range reduction and polynomial of Cephes' expf
/// (Moshier 1992).
void exponentiate(Numbers& numbers) {
  constexpr float kRounding = 12582912.0f;  // 1.5 * 2^23: its sums have integers in low bits
  for (float& number : numbers) {
    const float x = number, shifted = x * 1.44269504088896341f + kRounding;
    const float n = shifted - kRounding, r = x - n * 0.693359375f + n * 2.12194440e-4f;
    float poly = 1.9875691500e-4f * r + 1.3981999507e-3f;
    poly = poly * r + 8.3334519073e-3f;
    poly = poly * r + 4.1665795894e-2f;
    poly = poly * r + 1.6666665459e-1f;
    poly = poly * r + 5.0000001201e-1f;
    const std::int32_t integer =
        std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounding);
    const std::int32_t exponent = std::max(integer, -126) + 127;
    number = (poly * r * r + r + 1.0f) * std::bit_cast<float>(exponent << 23);
  }
}

/// The batch's tensors lie where the host reads them. Tokens have rows of their own.
class HostPlan final : public Plan {
 public:
  explicit HostPlan(const ForwardBatch& batch)
      : write_(batch.index_write), in_bf16_(batch.problem->layer.selection.scores_in_bf16()) {}

  void run(Stream&) override {
    const std::int64_t tokens = write_->tokens;
    const std::int64_t keys = write_->pools.keys;
    const bool has_pools = keys > 1;
#pragma omp parallel for schedule(static) if (tokens * keys * kDim > kWorthATeam)
    for (std::int64_t token = 0; token < tokens; ++token) {
      if (has_pools) wait(token);
      const std::int64_t slot = write_->slots[token];
      if (slot < 0) continue;
      const std::byte* const key = write_->k + token * kNewKeyBytes;
      if (in_bf16_) {
        std::memcpy(write_->cache + slot * kNewKeyBytes, key, kNewKeyBytes);
      } else {
        quantise(has_pools ? pooled(token) : numbers_at(key), slot);
      }
    }
  }

 private:
  void wait(std::int64_t token) const {
    const std::int64_t row = write_->pools.ring_rows[token];
    if (row < 0) return;
    std::byte* const to = write_->pools.ring + row * 2 * kNewKeyBytes;
    std::memcpy(to, write_->k + token * kNewKeyBytes, kNewKeyBytes);
    std::memcpy(to + kNewKeyBytes, write_->pools.gates + token * kNewKeyBytes, kNewKeyBytes);
  }

  /// The softmax of a pool's keys in each dim, where a token closes it.
  [[nodiscard]] Numbers pooled(std::int64_t token) const {
    const std::int64_t keys = write_->pools.keys;
    Numbers highest{}, weights{}, sums{};
    highest.fill(-std::numeric_limits<float>::infinity());
    for (std::int64_t i = 0; i < keys; ++i) {
      const Numbers logits = logits_of(token, i);
      for (std::size_t d = 0; d < logits.size(); ++d) highest[d] = std::max(highest[d], logits[d]);
    }
    for (std::int64_t i = 0; i < keys; ++i) {
      Numbers weight = logits_of(token, i);
      for (std::size_t d = 0; d < weight.size(); ++d) weight[d] -= highest[d];
      exponentiate(weight);
      const Numbers key = numbers_at(rows_of(token, i).k);
      for (std::size_t d = 0; d < weight.size(); ++d) {
        weights[d] += weight[d];
        sums[d] += weight[d] * key[d];
      }
    }
    for (std::size_t d = 0; d < sums.size(); ++d) sums[d] /= weights[d];
    return sums;
  }
  [[nodiscard]] Numbers logits_of(std::int64_t token, std::int64_t i) const {
    Numbers logits = numbers_at(rows_of(token, i).gate);
    for (std::size_t d = 0; d < logits.size(); ++d) {
      logits[d] += write_->pools.ape[static_cast<std::size_t>(i) * logits.size() + d];
    }
    return logits;
  }

  struct KeyAndGate {
    const std::byte *k, *gate;
  };
  /// Key `i` of the pool that a token closes: it waits, or stands before the token.
  [[nodiscard]] KeyAndGate rows_of(std::int64_t token, std::int64_t i) const {
    const PoolWrite& pools = write_->pools;
    const WaitingKeys waiting = pools.waiting[token];
    if (i < waiting.count) {
      const std::byte* const row = pools.ring + (waiting.first_row + i) * 2 * kNewKeyBytes;
      return {row, row + kNewKeyBytes};
    }
    const std::int64_t at = (token - (pools.keys - 1) + i) * kNewKeyBytes;
    return {write_->k + at, pools.gates + at};
  }

  void quantise(const Numbers& numbers, std::int64_t slot) const {
    float amax = 0;
    for (const float number : numbers) amax = std::max(amax, std::fabs(number));
    const float scale = index_key_scale(amax);
    const std::int64_t rows = write_->page_size, row = slot % rows;
    std::byte* const page = write_->cache + slot / rows * rows * IndexerInputs::kKeyBytes;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      page[row * kDim + static_cast<std::int64_t>(i)] = std::byte{e4m3_bits(numbers[i] / scale)};
    }
    constexpr std::int64_t kScaleBytes = sizeof scale;
    std::memcpy(page + rows * kDim + row * kScaleBytes, &scale, sizeof scale);
  }

  const IndexWrite* write_;
  bool in_bf16_;
};

}  // namespace

std::unique_ptr<Plan> HostWriter::plan(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<HostPlan>(batch);
}

}  // namespace attnbench::index_writer
