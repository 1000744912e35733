// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"

namespace attnbench {

/// One layer's KV cache as kernels address it, whatever its format. slot = page * page_size +
/// offset, and slot 0 (page 0) is the dummy that padding writes to; no request owns it. Ragged keys
/// are pages of one token without that dummy, in which a request's slots follow each other.
///
/// Rows of NHD, HND, combined and plain MLA caches are contiguous: element (slot, head, d) of K
/// lies at
///   k + (page * page_stride_k + offset * token_stride_k + head * head_stride_k + d) *
///   size_bytes(dtype)
/// and in the same way for V. In other formats runs of 2^run_bits_k elements are contiguous, the
/// next one run_stride_k elements on: k_element() finds each. MLA: v == k and the strides agree, V
/// being the first columns of the same row.
struct KvPool {
  std::byte* k = nullptr;
  std::byte* v = nullptr;
  DType dtype = DType::kBF16;
  KvLayout layout = KvLayout::kNhd;
  KvScales scales = KvScales::kTensor;
  float k_scale = 1;  ///< KvScales::kTensor; 1 otherwise
  float v_scale = 1;
  /// kHead: [heads_kv], kToken: [num_pages * page_size, heads_kv], kRequest: [requests of the
  /// batch, heads_kv], of K and of V; MLA: the same ones twice. Null otherwise.
  float* k_scales = nullptr;
  float* v_scales = nullptr;
  std::int64_t page_size = 1;
  std::int64_t num_pages = 0;  ///< dummy page included, where there is one
  int heads_kv = 0;
  int head_dim_k = 0;
  int head_dim_v = 0;
  BlockRow blocks;  ///< of a row that brings scales of blocks along
  // Strides count elements; bytes where blocks.exists().
  std::int64_t page_stride_k = 0, token_stride_k = 0, head_stride_k = 0;
  std::int64_t page_stride_v = 0, token_stride_v = 0, head_stride_v = 0;
  static constexpr int kWholeRow = 30;
  int run_bits_k = kWholeRow, run_bits_v = kWholeRow;
  std::int64_t run_stride_k = 0, run_stride_v = 0;

  /// First element of a row.
  [[nodiscard]] constexpr std::byte* k_row(std::int64_t slot, std::int64_t head) const {
    return k + ((slot / page_size) * page_stride_k + (slot % page_size) * token_stride_k +
                head * head_stride_k) *
                   size_bytes(dtype);
  }
  [[nodiscard]] constexpr std::byte* v_row(std::int64_t slot, std::int64_t head) const {
    return v + ((slot / page_size) * page_stride_v + (slot % page_size) * token_stride_v +
                head * head_stride_v) *
                   size_bytes(dtype);
  }

  /// Whether rows are dim elements of `dtype`, one behind the other.
  [[nodiscard]] constexpr bool has_plain_rows() const {
    return run_bits_k == kWholeRow && !blocks.exists();
  }

  /// Type of element `dim` of a row.
  [[nodiscard]] constexpr DType element_dtype(int dim) const {
    return dim >= blocks.scaled ? DType::kBF16 : dtype;
  }

  /// Element `dim` of the K row that begins at `row`.
  [[nodiscard]] constexpr std::byte* k_element(std::byte* row, int dim) const {
    if (dim >= blocks.scaled) return row + blocks.plain_at + 2 * (dim - blocks.scaled);
    return row + run_offset(dim, run_bits_k, run_stride_k) * size_bytes(dtype);
  }
  /// Likewise of the V row.
  [[nodiscard]] constexpr std::byte* v_element(std::byte* row, int dim) const {
    if (dim >= blocks.scaled) return row + blocks.plain_at + 2 * (dim - blocks.scaled);
    return row + run_offset(dim, run_bits_v, run_stride_v) * size_bytes(dtype);
  }

  /// Where blocks.exists(): what the columns of a block of the slot's row are multiplied with, of
  /// blocks.scale_bytes(); an f32 is 4-byte aligned.
  [[nodiscard]] constexpr std::byte* block_scale(std::int64_t slot, int block) const {
    if (blocks.behind == 0) return k_row(slot, 0) + blocks.scaled + block * 4;
    return k + (slot / page_size) * page_stride_k + page_size * blocks.bytes +
           (slot % page_size) * blocks.behind + block;
  }
  [[nodiscard]] constexpr float load_block_scale(std::int64_t slot, int block) const {
    const std::uint32_t bits = block_scale_bits(slot, block);
    return blocks.behind > 0 ? e8m0_value(static_cast<std::uint8_t>(bits))
                             : std::bit_cast<float>(bits);
  }
  /// As it is stored.
  [[nodiscard]] constexpr std::uint32_t block_scale_bits(std::int64_t slot, int block) const {
    const std::byte* const at = block_scale(slot, block);
    std::uint32_t bits = 0;
    for (int i = 0; i < blocks.scale_bytes(); ++i) {
      bits |= std::to_integer<std::uint32_t>(at[i]) << (8 * i);
    }
    return bits;
  }
  /// With a row's last scale go the zeros behind it.
  constexpr void store_block_scale(std::int64_t slot, int block, float scale) const {
    std::byte* const at = block_scale(slot, block);
    if (blocks.behind == 0) {
      const auto bits = std::bit_cast<std::uint32_t>(scale);
      for (int i = 0; i < 4; ++i) at[i] = static_cast<std::byte>(bits >> (8 * i));
      return;
    }
    *at = static_cast<std::byte>(e8m0_bits(scale));
    if (block + 1 < blocks.scales()) return;
    for (int i = block + 1; i < blocks.behind; ++i) *block_scale(slot, i) = std::byte{0};
  }

  /// What all rows of a request and head are multiplied with: of kTensor, kHead and kRequest, where
  /// rows share their scales.
  [[nodiscard]] constexpr float shared_k_scale(std::int64_t request, std::int64_t head) const {
    return k_scales == nullptr ? k_scale : k_scales[shared_scale(request, head)];
  }
  [[nodiscard]] constexpr float shared_v_scale(std::int64_t request, std::int64_t head) const {
    return v_scales == nullptr ? v_scale : v_scales[shared_scale(request, head)];
  }

 private:
  [[nodiscard]] constexpr std::int64_t shared_scale(std::int64_t request, std::int64_t head) const {
    return scales == KvScales::kRequest ? request * heads_kv + head : head;
  }
  [[nodiscard]] static constexpr std::int64_t run_offset(int dim, int bits, std::int64_t stride) {
    return (dim >> bits) * stride + (dim & ((1 << bits) - 1));
  }
};

}  // namespace attnbench
