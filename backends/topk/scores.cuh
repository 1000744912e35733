// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Where the scores of a row come from. Each kind hands them to a block in batches: each thread is
// given kBatch others, scores[i] of unit(i), of which those that the row lacks are kAbsent.
namespace attnbench::topk {

constexpr int kThreads = 512;

/// Below all scores.
constexpr std::uint32_t kAbsent = 0;

/// As unsigned numbers, scores have the order that they have as floats.
__device__ inline std::uint32_t ordered(float score) {
  const std::uint32_t bits = __float_as_uint(score);
  return (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
}

/// The same, above kAbsent.
__device__ inline std::uint32_t ordered_and_present(float score) {
  return max(ordered(score), kAbsent + 1);
}

/// Neighbouring columns of a row in global memory, which is aligned and padded to 256 bytes: each
/// thread has kQuads times four.
template <int kQuads>
struct Columns {
  float4 quads[kQuads];
  int first;

  /// The columns from `from` on, a multiple of 4. All loads are on their way before one is used.
  __device__ Columns(const float* row, int from, int end)
      : first(from + 4 * static_cast<int>(threadIdx.x)) {
#pragma unroll
    for (int q = 0; q < kQuads; ++q) {
      const int column = first + 4 * kThreads * q;
      quads[q] = column < end ? __ldg(reinterpret_cast<const float4*>(row + column)) : float4{};
    }
  }
};

/// The scores of columns of a row, as far as they are before `end`.
template <int kQuads>
struct BatchOfRow {
  static constexpr int kBatch = 4 * kQuads;

  int first;
  std::uint32_t scores[kBatch];

  __device__ BatchOfRow(const Columns<kQuads>& columns, int end) : first(columns.first) {
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      const float4& four = columns.quads[i / 4];
      const float pairs[] = {four.x, four.y, four.z, four.w};
      scores[i] = unit(i) < end ? ordered_and_present(pairs[i % 4]) : kAbsent;
    }
  }
  [[nodiscard]] __device__ int unit(int i) const { return first + 4 * kThreads * (i / 4) + i % 4; }
};

/// A part of a row that the registers of a block hold: global memory is read once.
template <int kQuads>
struct HeldScores {
  static constexpr int kBatch = 4 * kQuads;
  static constexpr int kRoom = kThreads * kBatch;

  BatchOfRow<kQuads> batch;

  template <class Visit>
  __device__ void each_batch(Visit visit) const {
    visit(batch);
  }
};

/// A longer part, which each pass reads again.
struct StreamedScores {
  static constexpr int kQuads = 4;
  static constexpr int kBatch = 4 * kQuads;

  const float* row;
  int begin, end;

  template <class Visit>
  __device__ void each_batch(Visit visit) const {
    for (int from = begin; from < end; from += kThreads * kBatch) {
      visit(BatchOfRow<kQuads>(Columns<kQuads>(row, from, end), end));
    }
  }
};

/// Scores that shared memory has room for, with their units.
struct KeptScores {
  static constexpr int kBatch = 4;
  static constexpr int kRoom = kThreads * kBatch;

  struct Batch {
    const KeptScores& kept;
    std::uint32_t scores[kBatch];

    [[nodiscard]] __device__ static int at(int i) {
      return kThreads * i + static_cast<int>(threadIdx.x);
    }
    [[nodiscard]] __device__ std::int32_t unit(int i) const { return kept.units[at(i)]; }
  };

  std::uint32_t scores[kRoom];
  std::int32_t units[kRoom];
  int count;

  template <class Visit>
  __device__ void each_batch(Visit visit) const {
    Batch batch{*this, {}};
#pragma unroll
    for (int i = 0; i < kBatch; ++i) {
      batch.scores[i] = Batch::at(i) < count ? scores[Batch::at(i)] : kAbsent;
    }
    visit(batch);
  }
};

}  // namespace attnbench::topk
