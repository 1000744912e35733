// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/common/cuda/chosen_rows.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "backends/common/cuda/early_launch.cuh"
#include "backends/common/cuda/planning.h"
#include "backends/common/tiles/tiles.h"
#include "backends/common/visibility.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/batch/graph_padding.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

constexpr int kListThreads = 256;
constexpr int kListWarps = kListThreads / 32;
/// Keys of a lane whose loads are under way at once. A block takes 2048 of a list in one go, which
/// is all of most lists.
constexpr int kLaneKeys = 8;
constexpr int kListWarpKeys = 32 * kLaneKeys;

struct ListParams {
  const std::int32_t* indices;      ///< [T, groups, topk]; null: all compressed rows are seen
  const std::int32_t* topk_length;  ///< [T, groups]; null likewise
  const ListToken* tokens;          ///< [T]
  const std::int32_t* block_table;  ///< [B, table_width]
  std::int64_t table_width;
  std::int32_t* rows;     ///< [T, groups, width]
  std::int32_t* lengths;  ///< [T, groups]
  std::int32_t topk, groups, width;
  std::int32_t unit, page_size;      ///< kShifts: their binary logarithms
  std::int32_t per_page, per_token;  ///< RowNumbers
  std::int32_t compress_ratio, window;
};

/// How many units or pages lie before a key, and how far it lies in its own. Shifts, where the size
/// is a power of two: divisions were most of the kernel's code, which a cold cache has to fetch.
template <bool kShifts>
struct Cut {
  int size;  ///< kShifts: its binary logarithm

  __device__ __forceinline__ int before(int key) const {
    return kShifts ? key >> size : key / size;
  }
  __device__ __forceinline__ int within(int key) const {
    return kShifts ? key & ((1 << size) - 1) : key % size;
  }
  __device__ __forceinline__ int first_of(int index) const {
    return kShifts ? index << size : index * size;
  }
};

/// The keys of one query, by their index among those that it gathers: the units that its list
/// names.
template <bool kShifts>
class ListedUnits {
 public:
  __device__ __forceinline__ ListedUnits(const ListParams& p, const ListToken& token,
                                         std::int64_t list)
      : entries_(p.indices + list * p.topk),
        units_{p.unit},
        last_(p.topk - 1),
        own_unit_(units_.before(token.place)),
        place_(token.place),
        // Not behind the token, which may be padding.
        listed_(__ldg(p.topk_length + list)),
        keys_(token.request < 0 ? 0 : units_.first_of(listed_)) {}

  [[nodiscard]] __device__ __forceinline__ int keys() const { return keys_; }
  /// The index may be any, so that all loads can be under way at once.
  [[nodiscard]] __device__ __forceinline__ int entry(int at) const {
    return __ldg(entries_ + min(units_.before(at), last_));
  }
  /// -1: none.
  [[nodiscard]] __device__ __forceinline__ int key(int at, int entry) const {
    const int named = units_.first_of(entry) + units_.within(at);
    const bool seen = entry >= 0 && entry <= own_unit_ && named <= place_;
    return seen && at < keys_ ? named : -1;
  }

 private:
  const std::int32_t* entries_;
  Cut<kShifts> units_;
  int last_, own_unit_, place_, listed_, keys_;
};

/// Likewise, where there are compressed rows: the keys of its window, then these rows.
class WindowAndRows {
 public:
  __device__ __forceinline__ WindowAndRows(const ListParams& p, const ListToken& token,
                                           std::int64_t list)
      : entries_(p.indices == nullptr ? nullptr : p.indices + list * p.topk),
        last_(p.topk - 1),
        first_row_(token.first_row) {
    const int tokens = token.request < 0 ? 0 : max(token.place + 1, 0);
    rows_ = tokens / p.compress_ratio;
    window_ = min(p.window, tokens);
    first_key_ = tokens - window_;
    listed_ = entries_ == nullptr ? rows_ : tokens > 0 ? __ldg(p.topk_length + list) : 0;
  }

  [[nodiscard]] __device__ __forceinline__ int keys() const { return window_ + listed_; }
  [[nodiscard]] __device__ __forceinline__ int entry(int at) const {
    const int row = at - window_;
    return entries_ == nullptr ? row : __ldg(entries_ + min(max(row, 0), last_));
  }
  [[nodiscard]] __device__ __forceinline__ int key(int at, int entry) const {
    if (at < window_) return first_key_ + at;
    return at < keys() && entry >= 0 && entry < rows_ ? first_row_ + entry : -1;
  }

 private:
  const std::int32_t* entries_;  ///< null: all rows are seen
  int last_, first_row_;
  int rows_, window_, first_key_, listed_;
};

/// A block for each list. Its keys keep their order, so that a result has the same bits in every
/// run.
template <bool kShifts, class Keys>
__global__ void __launch_bounds__(kListThreads) find_rows(const __grid_constant__ ListParams p) {
  cuda::let_next_start();
  __shared__ int found_by[kListWarps];
  const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t list = blockIdx.x;
  const ListToken token = p.tokens[blockIdx.x / static_cast<unsigned>(p.groups)];
  const Keys gathered(p, token, list);
  const Cut<kShifts> in_pages{p.page_size};
  const int keys = gathered.keys();
  const std::int32_t* const pages = p.block_table + max(token.request, 0) * p.table_width;
  std::int32_t* const rows = p.rows + list * p.width;
  int found = 0;  // in the rounds before
  int first = 0;
  do {
    // All loads are unconditional, or a lane would wait for one before it asks for the next. The
    // first entries are asked for before it is known how many of them count.
    const int own = first + warp * kListWarpKeys + lane;
    int entry[kLaneKeys], key[kLaneKeys], page[kLaneKeys];
#pragma unroll
    for (int i = 0; i < kLaneKeys; ++i) entry[i] = gathered.entry(own + 32 * i);
#pragma unroll
    for (int i = 0; i < kLaneKeys; ++i) key[i] = gathered.key(own + 32 * i, entry[i]);
#pragma unroll
    for (int i = 0; i < kLaneKeys; ++i) {
      page[i] = pages[in_pages.before(max(key[i], 0))];  // __ldg() would end up behind the barrier
    }
    unsigned present[kLaneKeys];
    int of_warp = 0;
#pragma unroll
    for (int i = 0; i < kLaneKeys; ++i) {
      present[i] = __ballot_sync(~0u, key[i] >= 0);
      of_warp += __popc(present[i]);
    }
    if (lane == 0) found_by[warp] = of_warp;
    __syncthreads();
    int to = found;
#pragma unroll
    for (int other = 0; other < kListWarps; ++other) {
      if (other < warp) to += found_by[other];
      found += found_by[other];
    }
    __syncthreads();  // the next round writes found_by
#pragma unroll
    for (int i = 0; i < kLaneKeys; ++i) {
      const int at = to + __popc(present[i] & ((1u << lane) - 1));
      if (key[i] >= 0 && at < p.width) {
        rows[at] = page[i] * p.per_page + in_pages.within(key[i]) * p.per_token;
      }
      to += __popc(present[i]);
    }
    first += kListWarps * kListWarpKeys;
  } while (first < keys);
  if (threadIdx.x == 0) p.lengths[list] = min(found, p.width);
}

/// Query tokens of a step, and the longest context: a recorded plan has room for any.
struct Most {
  std::int64_t tokens = 0, kv_len = 0;
};
Most most_of(const ForwardBatch& batch) {
  const Problem& problem = *batch.problem;
  if (problem.recorded) return {problem.limits.q_tokens, problem.limits.kv_len};
  Most most{batch.q_tokens()};
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    most.kv_len = std::max(most.kv_len, batch.kv_len(r));
  }
  return most;
}

std::vector<ListToken> tokens_of(const ForwardBatch& batch, std::int64_t count) {
  std::vector<ListToken> tokens(to_size(count));
  for (std::int64_t r = 0; r < batch.batch_size; ++r) {
    if (is_padding(batch, r)) continue;
    const std::int64_t first = first_token(batch, r), q_len = batch.q_len(r);
    const std::int64_t page_size = batch.token_to_kv_pool->page_size;
    const std::int64_t first_row = ceil_div(batch.kv_len(r), page_size) * page_size;
    for (std::int64_t t = 0; t < q_len; ++t) {
      tokens[to_size(first + t)] = {narrow_i32(r), narrow_i32(batch.kv_len(r) - q_len + t),
                                    narrow_i32(first_row)};
    }
  }
  return tokens;
}

}  // namespace

RowNumbers slot_numbers(const KvPool& pool) { return {pool.page_size, 1}; }

RowNumbers unit_numbers(const KvPool& pool) {
  const std::int64_t element = size_bytes(pool.dtype);
  const RowNumbers numbers{pool.page_stride_k * element / kRowUnit,
                           pool.token_stride_k * element / kRowUnit};
  expects(pool.num_pages * numbers.per_page <= std::numeric_limits<std::int32_t>::max(),
          "K of one layer has 32 GiB or more: rows of chosen keys are found by 31 bits");
  return numbers;
}

ChosenRows::ChosenRows(const ForwardBatch& batch, RowNumbers numbers, DeviceRoom& room)
    : numbers_(numbers),
      selection_(batch.problem->layer.selection),
      compress_ratio_(batch.problem->layer.compress_ratio),
      groups_(batch.problem->layer.selection_groups()),
      page_size_(batch.token_to_kv_pool->page_size),
      recorded_(batch.problem->recorded),
      copies_lists_(recorded_ && selection_.exists() && !device_batch_of(batch).lists_stay) {
  const Most most = most_of(batch);
  const AttentionLayer& layer = batch.problem->layer;
  const std::int64_t window = layer.sliding_window_size;
  window_ = window < 0 ? std::numeric_limits<std::int32_t>::max() : window + 1;
  tokens_ = most.tokens;
  width_ = tiles::most_gathered_keys(layer, most.kv_len);
  const std::int64_t lists = tokens_ * groups_;
  tokens_at_ = room.add<ListToken>(tokens_);
  rows_at_ = room.add<std::int32_t>(lists * width_);
  lengths_at_ = room.add<std::int32_t>(lists);
  block_table_ = StepPageTable(batch, room);
  if (recorded_ && selection_.exists()) topk_length_at_ = room.add<std::int32_t>(lists);
  if (copies_lists_) indices_at_ = room.add<std::int32_t>(lists * selection_.topk);
}

void ChosenRows::place(std::byte* memory) {
  list_tokens_ = tokens_at_.in(memory);
  rows_ = rows_at_.in(memory);
  lengths_ = lengths_at_.in(memory);
  block_table_.place(memory);
  if (recorded_ && selection_.exists()) own_topk_length_ = topk_length_at_.in(memory);
  if (copies_lists_) own_indices_ = indices_at_.in(memory);
}

void ChosenRows::enqueue(const ForwardBatch& batch, void* stream) {
  Upload upload;
  upload.add(tokens_of(batch, tokens_));
  enqueue_upload(upload, reinterpret_cast<std::byte*>(list_tokens_), stream);
  block_table_.enqueue(batch, stream);
  if (!selection_.exists()) return;
  const DeviceBatch& from = device_batch_of(batch);
  expects(from.topk_indices != nullptr && from.topk_length != nullptr,
          "a selection without its lists on the device");
  expects(!recorded_ || copies_lists_ || indices_ == nullptr || indices_ == from.topk_indices,
          "lists that should have stayed where they are");
  indices_ = from.topk_indices;
  topk_length_ = from.topk_length;
  if (!recorded_) return;
  const auto copy = [&](std::int32_t* to, const std::int32_t* values, std::int64_t count) {
    check_cuda(cudaMemcpyAsync(to, values, to_size(count) * sizeof(*values),
                               cudaMemcpyDeviceToDevice, static_cast<cudaStream_t>(stream)),
               "cudaMemcpyAsync");
  };
  const std::int64_t lists = batch.q_tokens() * groups_;
  copy(own_topk_length_, from.topk_length, lists);
  topk_length_ = own_topk_length_;
  if (!copies_lists_) return;
  copy(own_indices_, from.topk_indices, lists * selection_.topk);
  indices_ = own_indices_;
}

void ChosenRows::launch(void* stream) const {
  const auto lists = static_cast<unsigned>(narrow_i32(tokens_ * groups_));
  if (lists == 0) return;
  // A lane without a key reads the first page, which is missing where no request has keys.
  const bool has_pages = block_table_.width() > 0;
  const bool shifts =
      std::has_single_bit(to_size(selection_.unit)) && std::has_single_bit(to_size(page_size_));
  const auto size_of = [shifts](std::int64_t size) {
    return narrow_i32(shifts ? std::countr_zero(to_size(size)) : size);
  };
  const ListParams params{.indices = indices_,
                          .topk_length = topk_length_,
                          .tokens = list_tokens_,
                          .block_table = has_pages ? block_table_.pages() : lengths_,
                          .table_width = block_table_.width(),
                          .rows = rows_,
                          .lengths = lengths_,
                          .topk = narrow_i32(selection_.topk),
                          .groups = narrow_i32(groups_),
                          .width = narrow_i32(width_),
                          .unit = size_of(selection_.unit),
                          .page_size = size_of(page_size_),
                          .per_page = narrow_i32(numbers_.per_page),
                          .per_token = narrow_i32(numbers_.per_token),
                          .compress_ratio = narrow_i32(compress_ratio_),
                          .window = narrow_i32(window_)};
  const auto find = [shifts, this] {
    if (compress_ratio_ > 0) {
      return shifts ? find_rows<true, WindowAndRows> : find_rows<false, WindowAndRows>;
    }
    return shifts ? find_rows<true, ListedUnits<true>> : find_rows<false, ListedUnits<false>>;
  }();
  find<<<lists, kListThreads, 0, static_cast<cudaStream_t>(stream)>>>(params);
  check_launch("find_rows");
}

void ChosenRows::set_in(tiles::Params& params) const {
  params.list_lengths = lengths_;
  params.list_width = narrow_i32(width_);
  params.lists_by_kv_head = selection_.groups == SelectionGroups::kKvHeads;
}

}  // namespace attnbench
