// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/topk/reread.cuh"

#include <cub/block/block_scan.cuh>

#include "backends/topk/list_end.cuh"
#include "backends/topk/scores.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench::topk {
namespace reread {
namespace {

constexpr int kThreads = 1024;
constexpr int kBins = 2048;  // a pass tells 11 bits of a score apart, the last one the other 10
constexpr int kBinsOfThread = kBins / kThreads;
/// Scores that shared memory has room for. A bin of the first 11 bits is a quarter of an octave: of
/// 128k nearly normal scores, of which 2k are taken, the one in which the list ends has some 3500.
constexpr int kKept = 4096;

using BinSums = cub::BlockScan<int, kThreads, cub::BLOCK_SCAN_WARP_SCANS>;

/// Scores whose upper bits, those of `mask`, are above `prefix` are in the list, and `wanted` of
/// those where they are equal to it.
struct Cut {
  std::uint32_t prefix = 0, mask = 0;
  int wanted = 0;
};

struct Shared {
  BinSums::TempStorage sums;
  int counts[kBins];
  std::uint32_t kept[kKept];  // of scores at the cut, and whose they are
  std::int32_t kept_units[kKept];
  Cut cut;
  int at_cut;              // how many scores are equal to the cut in its bits
  int above, equal, keep;  // how many are written so far
};

/// The scores of a row in global memory, whose rows are aligned.
struct RowOfScores {
  const float* scores;
  int units;

  template <class Visit>
  __device__ void each(Visit visit) const {
    const int quads = units / 4;
    for (int i = static_cast<int>(threadIdx.x); i < quads; i += kThreads) {
      const float4 four = reinterpret_cast<const float4*>(scores)[i];
      visit(ordered(four.x), 4 * i);
      visit(ordered(four.y), 4 * i + 1);
      visit(ordered(four.z), 4 * i + 2);
      visit(ordered(four.w), 4 * i + 3);
    }
    const int rest = 4 * quads + static_cast<int>(threadIdx.x);
    if (rest < units) visit(ordered(scores[rest]), rest);
  }
};

/// Those that the first pass left open, in shared memory.
struct Kept {
  const Shared& shared;
  int count;

  template <class Visit>
  __device__ void each(Visit visit) const {
    for (int i = static_cast<int>(threadIdx.x); i < count; i += kThreads) {
      visit(shared.kept[i], shared.kept_units[i]);
    }
  }
};

/// Moves the cut on by the bits from `shift` on: into the bin of these in which the list ends.
template <class Scores>
__device__ void refine(const Scores& scores, int shift, int bits, Shared& shared) {
  const Cut cut = shared.cut;
  for (int bin = static_cast<int>(threadIdx.x); bin < kBins; bin += kThreads) {
    shared.counts[bin] = 0;
  }
  __syncthreads();
  const std::uint32_t bins = (1u << bits) - 1;
  scores.each([&](std::uint32_t score, int) {
    if ((score & cut.mask) == cut.prefix) atomicAdd(&shared.counts[(score >> shift) & bins], 1);
  });
  __syncthreads();
  // Thread 0 has the highest bins.
  int counts[kBinsOfThread], before[kBinsOfThread];
  const int first = kBins - 1 - kBinsOfThread * static_cast<int>(threadIdx.x);
  for (int i = 0; i < kBinsOfThread; ++i) counts[i] = shared.counts[first - i];
  BinSums(shared.sums).ExclusiveSum(counts, before);
  for (int i = 0; i < kBinsOfThread; ++i) {
    if (before[i] >= cut.wanted || before[i] + counts[i] < cut.wanted) continue;
    shared.cut = {cut.prefix | static_cast<std::uint32_t>(first - i) << shift,
                  cut.mask | bins << shift, cut.wanted - before[i]};
    shared.at_cut = counts[i];
  }
  __syncthreads();
}

/// Writes the units above the cut, and hands those at it to `take(score, unit)`.
template <class Scores, class Take>
__device__ void distribute(const Scores& scores, std::int32_t* list, Shared& shared, Take take) {
  const Cut cut = shared.cut;
  scores.each([&](std::uint32_t score, int unit) {
    const std::uint32_t upper = score & cut.mask;
    if (upper > cut.prefix) {
      list[atomicAdd(&shared.above, 1)] = unit;
    } else if (upper == cut.prefix) {
      take(score, unit);
    }
  });
}

/// Writes the units above the cut, and as many at the cut as are wanted.
template <class Scores>
__device__ void write_list(const Scores& scores, int ends_above, std::int32_t* list,
                           Shared& shared) {
  const int wanted = shared.cut.wanted;
  distribute(scores, list, shared, [&](std::uint32_t, int unit) {
    const int place = atomicAdd(&shared.equal, 1);
    if (place < wanted) list[ends_above + place] = unit;
  });
}

/// Writes the units above the cut, and keeps those at the cut with their scores.
__device__ void write_and_keep(const RowOfScores& scores, std::int32_t* list, Shared& shared) {
  distribute(scores, list, shared, [&](std::uint32_t score, int unit) {
    const int place = atomicAdd(&shared.keep, 1);
    shared.kept[place] = score;
    shared.kept_units[place] = unit;
  });
  __syncthreads();
}

/// The lower 21 bits of the cut, unless all scores at it are in the list; then the list.
template <class Scores>
__device__ void finish(const Scores& scores, int topk, std::int32_t* list, Shared& shared) {
  if (shared.at_cut > shared.cut.wanted) refine(scores, 10, 11, shared);
  if (shared.at_cut > shared.cut.wanted) refine(scores, 0, 10, shared);
  write_list(scores, topk - shared.cut.wanted, list, shared);
}

/// A block a row.
template <bool kTails>
__global__ void __launch_bounds__(kThreads)
    select_by_rereading(IndexScores scores, int list_columns, std::int32_t* indices,
                        std::int32_t* lengths) {
  __shared__ Shared shared;
  const std::int64_t row = blockIdx.x;
  const int units = scores.row_lens[row / scores.groups];
  std::int32_t* const list = indices + row * list_columns;
  const ListEnd<kTails> end_of_list(scores, row, units, list_columns);
  const int topk = end_of_list.topk;
  if (threadIdx.x == 0) {
    lengths[row] = end_of_list.length();
    if (kTails && units > topk) list[topk] = end_of_list.tail;
    shared.cut = {0, 0, topk};
    shared.above = shared.equal = shared.keep = 0;
  }
  if (units <= topk) {
    for (int i = static_cast<int>(threadIdx.x); i < list_columns; i += kThreads) {
      list[i] = i < units ? i : end_of_list.behind_units(i);
    }
    return;
  }
  __syncthreads();
  const RowOfScores all{scores.logits + row * scores.columns, units};
  refine(all, 21, 11, shared);
  if (shared.at_cut > kKept || shared.at_cut == shared.cut.wanted) {
    finish(all, topk, list, shared);
    return;
  }
  write_and_keep(all, list, shared);
  finish(Kept{shared, shared.keep}, topk, list, shared);
}

}  // namespace
}  // namespace reread

void enqueue_select_by_rereading(const IndexScores& scores, std::int64_t topk,
                                 std::int32_t* indices, std::int32_t* lengths,
                                 cudaStream_t stream) {
  const std::int64_t rows = scores.tokens * scores.groups;
  const auto kernel = scores.tails == nullptr ? reread::select_by_rereading<false>
                                              : reread::select_by_rereading<true>;
  kernel<<<static_cast<unsigned>(rows), reread::kThreads, 0, stream>>>(
      scores, static_cast<int>(topk), indices, lengths);
  check_launch("select_by_rereading");
}

}  // namespace attnbench::topk
