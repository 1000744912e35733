// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/mla/rows.cuh"
#include "backends/mla/wgmma_softmax.cuh"
#include "backends/splitkv/store.cuh"

namespace attnbench::mla::hopper {

/// How a warpgroup's half of an item's output leaves: as output, or as a piece that waits for the
/// merge.
template <class T, int kGroup, class Form>
class Store {
 public:
  __device__ __forceinline__ Store(const Params& p, Shared shared) : p_(p), shared_(shared) {}

  /// Normalises and stores; `odd` is that of the item's number.
  __device__ __forceinline__ void finish(const Item& item, bool odd,
                                         Softmax<T, kGroup, Form>& softmax,
                                         float (&out)[32][4]) const {
    softmax.share_sums(odd);
    cuda::mbarrier_arrive(shared_.sums_full());
    cuda::mbarrier_wait(shared_.sums_full(), odd ? 1 : 0);
    float share[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const float total = shared_.sums(0, odd)[lane_.row(i)] + shared_.sums(1, odd)[lane_.row(i)];
      const float lse = softmax.lse(i, total);
      share[i] = total > 0 ? 1.0f / total : 0.0f;
      if (lane_.row(i) >= item.rows) continue;
      if (item.splits > 1) {
        if (kGroup == 0 && lane_.index % 4 == 0) {
          p_.partial_lse[partial_row(item, lane_.row(i))] = lse;
        }
        continue;
      }
      cuda::LseMerge merge = splitkv::with_sink(p_, item, lane_.row(i));
      merge.add(lse);
      share[i] *= merge.weight(lse) * out_factor(item);
      if (kGroup == 0 && lane_.index % 4 == 0) {
        cuda::store_lse(p_, place_of(p_, item, lane_.row(i)), merge.lse());
      }
    }
    multiply(out, share);
    if (item.splits > 1) {
      store_partial(item, out);
    } else if constexpr (Form::kFp8Out) {
      store_fp8(item, out);
    } else {
      store_output(item, out);
    }
  }

 private:
  /// Only latents in fp8 have scales by request.
  __device__ __forceinline__ float out_factor(const Item& item) const {
    if constexpr (Form::kFp8) return cuda::out_factor(p_, item.request, item.kv_head);
    return p_.v_scale;
  }
  __device__ __forceinline__ std::int64_t partial_row(const Item& item, int row) const {
    return static_cast<std::int64_t>(item.partial) * p_.partial_rows +
           static_cast<int>(blockIdx.x) % p_.lanes * kRows + row;
  }

  /// 64 columns at a time through shared memory, where this warpgroup's weights were: a warp writes
  /// whole lines of its rows.
  __device__ __forceinline__ void store_output(const Item& item, const float (&out)[32][4]) const {
    std::byte* to[4];  // rows lane / 8 and every fourth from there
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = lane_.warp_row + 4 * i + lane_.index / 8;
      const cuda::RowPlace place = place_of(p_, item, min(row, item.rows - 1));
      to[i] = row < item.rows
                  ? cuda::out_row(p_, place) + 2 * kGroup * kHalfDims + 16 * (lane_.index % 8)
                  : nullptr;
    }
#pragma unroll
    for (int block = 0; block < kHalfBlocks; ++block) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float(&low)[4] = out[8 * block + 2 * i];
        const float(&high)[4] = out[8 * block + 2 * i + 1];
        const std::uint32_t words[4] = {
            cuda::pack2<T>(low[0], low[1]), cuda::pack2<T>(low[2], low[3]),
            cuda::pack2<T>(high[0], high[1]), cuda::pack2<T>(high[2], high[3])};
        store_matrices(lane_.matrices(shared_.weights(kGroup), i), words);
      }
      __syncwarp();
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int row = lane_.warp_row + 4 * i + lane_.index / 8;
        const auto* const from = reinterpret_cast<const uint4*>(
            shared_.bytes + Shared::kWeightsAt + kGroup * kBlockBytes +
            row * cuda::kSwizzledRowBytes + 16 * (lane_.index % 8 ^ (row & 7)));
        if (to[i] != nullptr) {
          *reinterpret_cast<uint4*>(to[i] + block * cuda::kSwizzledRowBytes) = *from;
        }
      }
      __syncwarp();
    }
  }
  /// Each lane its own pairs of columns.
  __device__ __forceinline__ void store_fp8(const Item& item, const float (&out)[32][4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (lane_.row(i) >= item.rows) continue;
      const cuda::RowPlace place = place_of(p_, item, lane_.row(i));
#pragma unroll
      for (int n = 0; n < 32; ++n) {
        cuda::store_out<T>(p_, place, kGroup * kHalfDims + 8 * n + 2 * (lane_.index % 4),
                           float2{out[n][2 * i], out[n][2 * i + 1]});
      }
    }
  }
  /// Each lane its own pairs of columns: four lanes fill a sector of 32 bytes.
  __device__ __forceinline__ void store_partial(const Item& item, const float (&out)[32][4]) const {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      if (lane_.row(i) >= item.rows) continue;
      float* const to = p_.partial_out + partial_row(item, lane_.row(i)) * kDv +
                        kGroup * kHalfDims + 2 * (lane_.index % 4);
#pragma unroll
      for (int n = 0; n < 32; ++n) {
        *reinterpret_cast<float2*>(to + 8 * n) = float2{out[n][2 * i], out[n][2 * i + 1]};
      }
    }
  }

  const Params& p_;
  Shared shared_;
  Lane lane_;
};

}  // namespace attnbench::mla::hopper
