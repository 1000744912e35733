// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/topk/select.cuh"

#include "backends/common/cuda/cluster.cuh"
#include "backends/topk/bins.cuh"
#include "backends/topk/list_end.cuh"
#include "backends/topk/reread.cuh"
#include "backends/topk/scores.cuh"
#include "lib/device/cuda/check.cuh"

namespace attnbench::topk {
namespace {

using cuda::Cluster;

/// Blocks that every GPU with clusters lets a cluster have.
constexpr int kMostBlocks = 8;
constexpr int kWarps = kThreads / 32;
constexpr unsigned kAllLanes = ~0u;

/// float4s that a thread holds, of rows of up to 4k scores and of slices of longer ones.
constexpr int kQuadsOfShort = 2, kQuadsOfLong = 8;
/// Columns that a row's last 256 bytes may have behind its scores.
constexpr std::int64_t kPadding = 64;

struct alignas(16) Shared {
  int counts[OctaveBins::kBins];
  int sums[kWarps];
  Cut cut;     // the same in all blocks of a row
  int at_cut;  // how many scores of the row are at the cut
  // In the first block of a row: what all of them have written so far, and what is still open.
  int above, at;
  KeptScores kept;

  /// Whether it is open which scores at the cut are in the list.
  [[nodiscard]] __device__ bool is_open() const {
    return at_cut > cut.wanted && cut.low < cut.high;
  }
};

/// Adds up the first `bins` counts of the blocks, for all of them. Each block does it for its
/// share.
__device__ void add_counts(const Cluster& cluster, int bins, Shared& shared) {
  cluster.sync();
  if (cluster.blocks == 1) return;
  const int share = bins / cluster.blocks;
  for (int i = static_cast<int>(threadIdx.x); i < share; i += kThreads) {
    int& own = shared.counts[cluster.rank * share + i];
    int sum = 0;
#pragma unroll 4
    for (int block = 0; block < kMostBlocks; ++block) {
      if (block < cluster.blocks) sum += cluster.shared_of(block, own);
    }
    for (int block = 0; block < cluster.blocks; ++block) cluster.shared_of(block, own) = sum;
  }
  cluster.sync();
}

/// The sum of `value` over the lanes up to this one.
__device__ int sum_of_lanes(int value) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int step = 1; step < 32; step *= 2) {
    const int below = __shfl_up_sync(kAllLanes, value, step);
    if (lane >= step) value += below;
  }
  return value;
}

/// Moves the cut into the bin in which the list ends.
template <class Bins>
__device__ void move_cut(const Bins& bins, Shared& shared) {
  constexpr int kBinsOfThread = Bins::kBins / kThreads;
  const Cut cut = shared.cut;
  const int thread = static_cast<int>(threadIdx.x), lane = thread % 32, warp = thread / 32;
  // Thread 0 has the highest bins.
  const int first = Bins::kBins - kBinsOfThread * (thread + 1);
  int counts[kBinsOfThread], sum = 0;
#pragma unroll
  for (int i = 0; i < kBinsOfThread; ++i) sum += counts[i] = shared.counts[first + i];
  const int up_to = sum_of_lanes(sum);
  if (lane == 31) shared.sums[warp] = up_to;
  __syncthreads();
  const int of_warps_before = __reduce_add_sync(kAllLanes, lane < warp ? shared.sums[lane] : 0);
  int above = of_warps_before + up_to - sum;
  if (above < cut.wanted && cut.wanted <= above + sum) {
#pragma unroll
    for (int i = kBinsOfThread - 1; i >= 0; --i) {
      if (above < cut.wanted && cut.wanted <= above + counts[i]) {
        const std::uint32_t low = bins.lowest_of(first + i);
        const std::uint32_t high = bins.lowest_of(first + i + 1) - 1;
        shared.cut = {low, low <= high ? min(high, cut.high) : cut.high, cut.wanted - above};
        shared.at_cut = counts[i];
      }
      above += counts[i];
    }
  }
  __syncthreads();
}

/// Counts the scores at the cut by bins, and moves the cut into one of them.
template <class Bins, class Scores>
__device__ void refine(const Cluster& cluster, const Bins& bins, const Scores& scores,
                       Shared& shared) {
  static_assert(Bins::kBins % kThreads == 0 && Bins::kBins <= OctaveBins::kBins);
  const Cut cut = shared.cut;
#pragma unroll
  for (int i = 0; i < Bins::kBins; i += kThreads) shared.counts[i + threadIdx.x] = 0;
  __syncthreads();
  scores.each_batch([&](const auto& batch) {
#pragma unroll
    for (int i = 0; i < Scores::kBatch; ++i) {
      const std::uint32_t score = batch.scores[i];
      if (cut.is_at(score)) atomicAdd(&shared.counts[bins.bin_of(score)], 1);
    }
  });
  add_counts(cluster, Bins::kBins, shared);
  move_cut(bins, shared);
}

/// Writes the units above the cut, and hands those at it to `take(n, unit)`, the n-th of the row.
/// Each warp asks once a batch where it may write.
template <class Scores, class Take>
__device__ void distribute(const Cluster& cluster, const Scores& scores, std::int32_t* list,
                           Shared& shared, Take take) {
  static_assert(Scores::kBatch <= 32);
  const Cut cut = shared.cut;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  Shared& first = cluster.shared_of(0, shared);
  scores.each_batch([&](const auto& batch) {
    std::uint32_t is_above = 0, is_at = 0;  // a bit a score
#pragma unroll
    for (int i = 0; i < Scores::kBatch; ++i) {
      if (cut.is_above(batch.scores[i])) is_above |= 1u << i;
      if (cut.is_at(batch.scores[i])) is_at |= 1u << i;
    }
    // The numbers of both kinds, each in a half of one.
    const int found = __popc(is_above) << 16 | __popc(is_at);
    const int up_to = sum_of_lanes(found), before = up_to - found;
    const int all = __shfl_sync(kAllLanes, up_to, 31);
    if (all == 0) return;
    int from = 0;
    if (lane < 2) {
      from = atomicAdd(lane == 0 ? &first.above : &first.at, lane == 0 ? all >> 16 : all & 0xffff);
    }
    int above = __shfl_sync(kAllLanes, from, 0) + (before >> 16);
    int at = __shfl_sync(kAllLanes, from, 1) + (before & 0xffff);
    for (; is_above != 0; is_above &= is_above - 1) list[above++] = batch.unit(__ffs(is_above) - 1);
    for (; is_at != 0; is_at &= is_at - 1) take(at++, batch.unit(__ffs(is_at) - 1));
  });
}

/// Writes the units above the cut, and as many at the cut as are wanted.
template <class Scores>
__device__ void write_list(const Cluster& cluster, const Scores& scores, int topk,
                           std::int32_t* list, Shared& shared) {
  const int wanted = shared.cut.wanted;
  distribute(cluster, scores, list, shared, [=](int n, std::int32_t unit) {
    if (n < wanted) list[topk - wanted + n] = unit;
  });
}

/// Writes the units above the cut, and keeps those at it, for which there is room, in the first
/// block of the row. They are few, so that the cache is asked for their scores again.
template <class Scores>
__device__ void write_and_keep(const Cluster& cluster, const Scores& scores, const float* row,
                               std::int32_t* list, Shared& shared) {
  KeptScores& kept = cluster.shared_of(0, shared).kept;
  distribute(cluster, scores, list, shared, [&](int n, std::int32_t unit) {
    kept.scores[n] = ordered_and_present(__ldg(row + unit));
    kept.units[n] = unit;
  });
}

/// Selects among more than `topk` scores of a row, of which this block has `scores`.
template <class Scores>
__device__ void select_of(const Cluster& cluster, const Scores& scores, const float* row, int topk,
                          std::int32_t* list, Shared& shared) {
  using EvenBinsOfRow = EvenBins<12>;
  using EvenBinsOfKept = EvenBins<9>;
  refine(cluster, OctaveBins{}, scores, shared);
  while (shared.is_open() && shared.at_cut > KeptScores::kRoom) {
    refine(cluster, EvenBinsOfRow(shared.cut), scores, shared);
  }
  if (!shared.is_open()) {
    write_list(cluster, scores, topk, list, shared);
    if (cluster.blocks > 1) cluster.sync();
    return;
  }
  write_and_keep(cluster, scores, row, list, shared);
  cluster.sync();
  if (cluster.rank > 0) return;
  if (threadIdx.x == 0) {
    shared.kept.count = shared.at_cut;
    shared.at = 0;
  }
  const Cluster alone;
  do {
    refine(alone, EvenBinsOfKept(shared.cut), shared.kept, shared);
  } while (shared.is_open());
  write_list(alone, shared.kept, topk, list, shared);
}

/// A cluster a row, which blockIdx.x counts; a block, where rows are short.
template <int kQuads, bool kTails>
__global__ void __launch_bounds__(kThreads, kQuads == kQuadsOfShort ? 3 : 2)
    select_highest(IndexScores scores, int list_columns, std::int32_t* indices,
                   std::int32_t* lengths) {
  using Held = HeldScores<kQuads>;
  __shared__ Shared shared;
  constexpr bool kIsShort = kQuads == kQuadsOfShort;
  const Cluster cluster = kIsShort ? Cluster{} : Cluster::of_this_block();
  const unsigned index = blockIdx.x;
  const float* const row = scores.logits + index * scores.columns;
  const int thread = static_cast<int>(threadIdx.x);
  const int units = scores.row_lens[index / static_cast<unsigned>(scores.groups)];
  // The blocks are a power of two: all waits for this length, and a division takes long.
  const int log2_blocks = __ffs(cluster.blocks) - 1;
  const int slice = 4 * (((units + 3) / 4 + cluster.blocks - 1) >> log2_blocks);
  const int begin = min(cluster.rank * slice, units), end = min(begin + slice, units);
  // Of a short row, all columns are read without a wait for its length.
  const Columns<kQuads> columns(row, kIsShort ? 0 : begin,
                                kIsShort ? static_cast<int>(scores.columns) : end);
  std::int32_t* const list = indices + std::int64_t{index} * list_columns;
  const ListEnd<kTails> end_of_list(scores, index, units, list_columns);
  const int topk = end_of_list.topk;
  if (cluster.rank == 0 && thread == 0) lengths[index] = end_of_list.length();
  if (units <= topk) {
    for (int i = cluster.rank * kThreads + thread; i < list_columns;
         i += cluster.blocks * kThreads) {
      list[i] = i < units ? i : end_of_list.behind_units(i);
    }
    return;
  }
  if (kTails && cluster.rank == 0 && thread == 0) list[topk] = end_of_list.tail;
  if (thread == 0) {
    shared.cut = {kAbsent + 1, ~0u, topk};
    shared.above = shared.at = 0;
  }
  __syncthreads();
  if (slice <= Held::kRoom) {
    select_of(cluster, Held{BatchOfRow<kQuads>(columns, end)}, row, topk, list, shared);
  } else {
    select_of(cluster, StreamedScores{row, begin, end}, row, topk, list, shared);
  }
}

/// Lists of layers without tails, which are most, have a kernel of their own.
template <bool kTails>
auto kernel_for(bool is_short) {
  return is_short ? select_highest<kQuadsOfShort, kTails> : select_highest<kQuadsOfLong, kTails>;
}

}  // namespace

int most_blocks_of_row() {
  cudaFuncAttributes attributes{};
  check_cuda(cudaFuncGetAttributes(&attributes, select_highest<kQuadsOfLong, false>),
             "cudaFuncGetAttributes");
  return attributes.ptxVersion >= 90 ? kMostBlocks : 1;
}

int blocks_of_row(const IndexScores& scores) {
  constexpr std::int64_t kWorthABlock = 8192;  // columns
  const std::int64_t rows = scores.tokens * scores.groups;
  const int most = most_blocks_of_row();
  int device = 0, multiprocessors = 0;
  check_cuda(cudaGetDevice(&device), "cudaGetDevice");
  check_cuda(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device),
             "cudaDeviceGetAttribute");
  // Where each multiprocessor has a row, one block that reads it twice ends before several that
  // hold it in turn with those of other rows.
  if (rows > multiprocessors) return 1;
  int blocks = 1;
  while (blocks < most && scores.columns > blocks * (HeldScores<kQuadsOfLong>::kRoom + kPadding)) {
    blocks *= 2;
  }
  const bool leaves_room = 2 * blocks * rows <= multiprocessors;
  const bool is_worth_it = scores.columns >= 2 * blocks * kWorthABlock;
  return blocks < most && leaves_room && is_worth_it ? 2 * blocks : blocks;
}

void enqueue_select(const IndexScores& scores, std::int64_t topk, int blocks_of_row,
                    std::int32_t* indices, std::int32_t* lengths, cudaStream_t stream) {
  const std::int64_t rows = scores.tokens * scores.groups;
  if (rows == 0) return;
  if (blocks_of_row == 1 && scores.columns > HeldScores<kQuadsOfLong>::kRoom + kPadding) {
    enqueue_select_by_rereading(scores, topk, indices, lengths, stream);
    return;
  }
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {1, static_cast<unsigned>(blocks_of_row), 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(rows), static_cast<unsigned>(blocks_of_row));
  config.blockDim = dim3(kThreads);
  config.stream = stream;
  config.attrs = &cluster;
  config.numAttrs = blocks_of_row > 1 ? 1 : 0;
  const bool is_short =
      blocks_of_row == 1 && scores.columns <= HeldScores<kQuadsOfShort>::kRoom + kPadding;
  const auto kernel =
      scores.tails == nullptr ? kernel_for<false>(is_short) : kernel_for<true>(is_short);
  check_cuda(cudaLaunchKernelEx(&config, kernel, scores, static_cast<int>(topk), indices, lengths),
             "select_highest");
}

}  // namespace attnbench::topk
