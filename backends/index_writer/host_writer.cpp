// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "backends/index_writer/index_writer.h"
#include "lib/base/dtype.h"
#include "lib/base/worth_a_team.h"
#include "lib/batch/forward_batch.h"

namespace attnbench::index_writer {
namespace {

/// As f32, of rows in bf16 or f32.
void load_row(DType dtype, const std::byte* row, std::span<float> numbers) {
  if (dtype == DType::kF32) {
    std::memcpy(numbers.data(), row, numbers.size_bytes());
    return;
  }
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, row + i * sizeof bits, sizeof bits);
    numbers[i] = bf16_value(bits);
  }
}

/// e^x for -2^22 < x <= 0, of each number, error below 2 ulp, and 2^-126 where it is less: without
/// a branch, so that compilers take several at once. Range reduction and polynomial of Cephes' expf
/// (Moshier 1992).
void exponentiate(std::span<float> numbers) {
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

/// Rows one after the other, by one thread.
class RowWriter {
 public:
  explicit RowWriter(const IndexWrite& write)
      : write_(&write), shape_(write.shape), dims_(static_cast<std::size_t>(shape_.dims)) {
    for (std::vector<float>* each : {&row_, &highest_, &weights_, &logits_, &key_}) {
      each->resize(dims_);
    }
  }

  /// A token's key and gate go to the ring where they are to wait.
  void wait(std::int64_t token) {
    const PoolWrite& pools = write_->pools;
    if (!shape_.waits() || pools.ring_rows[token] < 0) return;
    const std::int64_t bytes = shape_.key_bytes();
    std::byte* const key = pools.ring + pools.ring_rows[token] * 2 * bytes;
    std::byte* const gate = key + bytes;
    std::memcpy(key, write_->k + token * bytes, static_cast<std::size_t>(bytes));
    std::memcpy(gate, pools.gates + token * bytes, static_cast<std::size_t>(bytes));
    if (!shape_.waits_with_ape) return;
    // Gates that wait with what is added to them are in f32.
    const std::int64_t key_of_pool = pools.ring_rows[token] % shape_.keys,
                       columns = shape_.columns();
    for (std::int64_t i = 0; i < columns; ++i) {
      store(DType::kF32, gate + i * 4, load(DType::kF32, gate + i * 4) + ape(key_of_pool)[i]);
    }
  }

  /// The row that a token completes goes to its slot.
  void write(std::int64_t token) {
    const std::int64_t slot = write_->slots[token];
    if (slot < 0) return;
    if (shape_.waits()) {
      pool(token);
    } else {
      load_row(shape_.dtype, write_->k + token * shape_.key_bytes(), row_);
    }
    const std::int64_t rows = write_->page_size, row = slot % rows;
    std::byte* const page =
        write_->cache + slot / rows * rows * (shape_.row_bytes() + shape_.scale_bytes());
    std::byte* const to = page + row * shape_.row_bytes();
    if (shape_.row == DType::kE4M3) {
      quantise(to, page + rows * shape_.row_bytes() + row * shape_.scale_bytes());
    } else {
      for (std::size_t i = 0; i < dims_; ++i) store(DType::kBF16, to + i * 2, row_[i]);
    }
  }

 private:
  /// A member of a row: where its key and gate lie, and what is to be added to its gate.
  struct Member {
    const std::byte *k = nullptr, *gate = nullptr;
    const float* ape = nullptr;
  };

  /// What is added to the gates of a pool's keys.
  [[nodiscard]] const float* ape(std::int64_t i) const {
    return write_->pools.ape + i * shape_.columns();
  }
  /// Behind those that are absent: the first ones wait, and new tokens stand before `token`.
  [[nodiscard]] Member member(std::int64_t token, std::int64_t i) const {
    const PoolWrite& pools = write_->pools;
    const WaitingKeys waiting = pools.waiting[token];
    const std::int64_t bytes = shape_.key_bytes(), half = i / shape_.keys * shape_.dims;
    const std::int64_t column = half * size_bytes(shape_.dtype), in_ring = i - waiting.absent;
    if (in_ring < waiting.count) {
      const std::byte* const key = pools.ring + (waiting.first_row + in_ring) * 2 * bytes + column;
      return {key, key + bytes, shape_.waits_with_ape ? nullptr : ape(i % shape_.keys) + half};
    }
    const std::int64_t at = (token - (shape_.members() - 1) + i) * bytes + column;
    return {write_->k + at, pools.gates + at, ape(i % shape_.keys) + half};
  }
  void load_logits(const Member& member) {
    load_row(shape_.dtype, member.gate, logits_);
    for (std::size_t d = 0; member.ape != nullptr && d < dims_; ++d) logits_[d] += member.ape[d];
  }

  /// The softmax of the members in each dim.
  void pool(std::int64_t token) {
    std::ranges::fill(highest_, -std::numeric_limits<float>::infinity());
    std::ranges::fill(weights_, 0.0f);
    std::ranges::fill(row_, 0.0f);
    const std::int64_t first = write_->pools.waiting[token].absent;
    for (std::int64_t i = first; i < shape_.members(); ++i) {
      load_logits(member(token, i));
      for (std::size_t d = 0; d < dims_; ++d) highest_[d] = std::max(highest_[d], logits_[d]);
    }
    for (std::int64_t i = first; i < shape_.members(); ++i) {
      const Member of = member(token, i);
      load_logits(of);
      for (std::size_t d = 0; d < dims_; ++d) logits_[d] -= highest_[d];
      exponentiate(logits_);
      load_row(shape_.dtype, of.k, key_);
      for (std::size_t d = 0; d < dims_; ++d) {
        weights_[d] += logits_[d];
        row_[d] += logits_[d] * key_[d];
      }
    }
    for (std::size_t d = 0; d < dims_; ++d) row_[d] /= weights_[d];
  }

  void quantise(std::byte* to, std::byte* scale_to) const {
    float amax = 0;
    for (const float number : row_) amax = std::max(amax, std::fabs(number));
    const float scale = index_key_scale(amax);
    for (std::size_t i = 0; i < dims_; ++i) to[i] = std::byte{e4m3_bits(row_[i] / scale)};
    std::memcpy(scale_to, &scale, sizeof scale);
  }

  const IndexWrite* write_;
  PoolShape shape_;
  std::size_t dims_;
  std::vector<float> row_, highest_, weights_, logits_, key_;
};

/// The batch's tensors lie where the host reads them. Tokens have rows of their own.
class HostPlan final : public Plan {
 public:
  explicit HostPlan(const ForwardBatch& batch) : write_(batch.index_write) {}

  void run(Stream&) override {
    const std::int64_t tokens = write_->tokens;
    const PoolShape& shape = write_->shape;
#pragma omp parallel if (tokens * shape.keys * shape.dims > kWorthATeam)
    {
      RowWriter writer(*write_);
#pragma omp for schedule(static)
      for (std::int64_t token = 0; token < tokens; ++token) {
        writer.wait(token);
        writer.write(token);
      }
    }
  }

 private:
  const IndexWrite* write_;
};

}  // namespace

std::unique_ptr<Plan> HostWriter::plan(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<HostPlan>(batch);
}

std::unique_ptr<Plan> HostCompressor::plan(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<HostPlan>(batch);
}

}  // namespace attnbench::index_writer
