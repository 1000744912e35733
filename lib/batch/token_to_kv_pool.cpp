// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/token_to_kv_pool.h"

#include <bit>

#include "lib/base/error.h"

namespace attnbench {
namespace {

struct Strides {
  std::int64_t page = 0;
  std::int64_t token = 0;
  std::int64_t head = 0;
  int run_bits = KvPool::kWholeRow;
  std::int64_t run = 0;
};

/// Of rows of `dim` elements that are not packed.
Strides plain_strides(const KvPoolShape& shape, std::int64_t dim) {
  const std::int64_t page = shape.format.page_size * shape.heads_kv * dim;
  if (shape.format.layout == KvLayout::kHnd) return {page, dim, shape.format.page_size * dim};
  return {page, shape.heads_kv * dim, dim};
}

/// Runs of `run` elements of all tokens of a page, before the next run of any.
Strides packed_strides(const KvPoolShape& shape, std::int64_t dim, int run) {
  const std::int64_t page_size = shape.format.page_size;
  return {page_size * shape.heads_kv * dim, run, page_size * dim,
          std::countr_zero(static_cast<unsigned>(run)), page_size * run};
}

void set_k(KvPool& pool, std::byte* data, const Strides& strides) {
  pool.k = data;
  pool.page_stride_k = strides.page;
  pool.token_stride_k = strides.token;
  pool.head_stride_k = strides.head;
  pool.run_bits_k = strides.run_bits;
  pool.run_stride_k = strides.run;
}

void set_v(KvPool& pool, std::byte* data, const Strides& strides) {
  pool.v = data;
  pool.page_stride_v = strides.page;
  pool.token_stride_v = strides.token;
  pool.head_stride_v = strides.head;
  pool.run_bits_v = strides.run_bits;
  pool.run_stride_v = strides.run;
}

void set_latent_rows(KvPool& pool, std::byte* data, const KvPoolShape& shape) {
  const std::int64_t row = shape.format.scales == KvScales::kBlock
                               ? block_row_bytes(shape.head_dim_v, shape.head_dim_k)
                               : shape.head_dim_k;
  const Strides strides = plain_strides(shape, row);
  set_k(pool, data, strides);
  set_v(pool, data, strides);
}

void set_rows(KvPool& pool, std::span<std::byte* const> buffers, const KvPoolShape& shape) {
  if (shape.family == Family::kLatent) {
    set_latent_rows(pool, buffers[0], shape);
  } else if (shape.format.layout == KvLayout::kXPacked) {
    set_k(pool, buffers[0], packed_strides(shape, shape.head_dim_k, x_of(shape.format.dtype)));
    set_v(pool, buffers[1], packed_strides(shape, shape.head_dim_v, 1));
  } else {
    const Strides strides = plain_strides(shape, shape.head_dim_k);
    std::byte* const v =
        shape.format.layout == KvLayout::kCombined
            ? buffers[0] + shape.num_pages * strides.page * size_bytes(shape.format.dtype)
            : buffers[1];
    set_k(pool, buffers[0], strides);
    set_v(pool, v, plain_strides(shape, shape.head_dim_v));
  }
}

float* floats(std::byte* memory) { return static_cast<float*>(static_cast<void*>(memory)); }

void append_rows(std::vector<CacheBuffer>& buffers, const KvPoolShape& shape) {
  const DType dtype = shape.format.dtype;
  const std::int64_t pages = shape.num_pages, page_size = shape.format.page_size;
  const std::int64_t heads = shape.heads_kv, dk = shape.head_dim_k, dv = shape.head_dim_v;
  if (shape.family == Family::kLatent) {
    if (shape.format.scales == KvScales::kBlock) {
      buffers.push_back({"kv pool",
                         std::nullopt,
                         {pages, page_size, 1, block_row_bytes(shape.head_dim_v, shape.head_dim_k)},
                         false});
    } else {
      buffers.push_back({"kv pool", dtype, {pages, page_size, 1, dk}, false});
    }
    return;
  }
  switch (shape.format.layout) {
    case KvLayout::kNhd:
      buffers.push_back({"k pool", dtype, {pages, page_size, heads, dk}, false});
      buffers.push_back({"v pool", dtype, {pages, page_size, heads, dv}, false});
      return;
    case KvLayout::kHnd:
      buffers.push_back({"k pool", dtype, {pages, heads, page_size, dk}, false});
      buffers.push_back({"v pool", dtype, {pages, heads, page_size, dv}, false});
      return;
    case KvLayout::kCombined:
      buffers.push_back({"kv pool", dtype, {2, pages, page_size, heads, dk}, false});
      return;
    case KvLayout::kXPacked: {
      const std::int64_t x = x_of(dtype);
      buffers.push_back({"k pool", dtype, {pages, heads, dk / x, page_size, x}, false});
      buffers.push_back({"v pool", dtype, {pages, heads, dv, page_size}, false});
      return;
    }
    case KvLayout::kRagged:
      buffers.push_back({"k rows", dtype, {pages, heads, dk}, false});
      buffers.push_back({"v rows", dtype, {pages, heads, dv}, false});
      return;
    case KvLayout::kStatesKv:
    case KvLayout::kStatesVk:
      throw InternalError("rows of keys in a layout of states");
  }
}

void append_scales(std::vector<CacheBuffer>& buffers, const KvPoolShape& shape) {
  std::vector<std::int64_t> extent{shape.heads_kv};
  if (shape.format.scales == KvScales::kToken) {
    extent.insert(extent.begin(), shape.num_pages * shape.format.page_size);
  } else if (shape.format.scales == KvScales::kRequest) {
    extent.insert(extent.begin(), shape.requests);
  } else if (shape.format.scales != KvScales::kHead) {
    return;
  }
  if (shape.family == Family::kLatent) {
    buffers.push_back({"kv scales", DType::kF32, extent, true});
    return;
  }
  buffers.push_back({"k scales", DType::kF32, extent, true});
  buffers.push_back({"v scales", DType::kF32, extent, true});
}

}  // namespace

KvPoolShape pool_shape_of(const AttentionLayer& layer, const CacheFormat& format,
                          std::int64_t num_pages, std::int64_t requests) {
  return {format,           num_pages, layer.family, layer.heads_kv, layer.head_dim_qk,
          layer.head_dim_v, requests};
}

std::int64_t CacheBuffer::bytes() const {
  std::int64_t bytes = dtype ? size_bytes(*dtype) : 1;
  for (const std::int64_t extent : shape) bytes *= extent;
  return bytes;
}

std::vector<CacheBuffer> cache_buffers(const KvPoolShape& shape) {
  std::vector<CacheBuffer> buffers;
  append_rows(buffers, shape);
  append_scales(buffers, shape);
  return buffers;
}

std::int64_t cache_bytes(const KvPoolShape& shape) {
  std::int64_t bytes = 0;
  for (const CacheBuffer& buffer : cache_buffers(shape)) bytes += buffer.bytes();
  return bytes;
}

KvPool kv_pool_view(std::span<std::byte* const> buffers, const KvPoolShape& shape) {
  AttentionLayer layer;
  layer.family = shape.family;
  layer.head_dim_qk = shape.head_dim_k;
  layer.head_dim_v = shape.head_dim_v;
  expects(layout_refusal(layer, shape.format).empty(), "a cache cannot lie as it is asked to");
  expects(scales_refusal(layer, shape.format).empty(), "a cache cannot have such scales");
  if (shape.family == Family::kLatent) {
    expects(shape.heads_kv == 1, "an MLA pool has one KV head");
    expects(shape.head_dim_v <= shape.head_dim_k,
            "the values of an MLA pool are a part of its keys");
  }
  KvPool pool;
  pool.dtype = shape.format.dtype;
  pool.layout = shape.format.layout;
  pool.scales = shape.format.scales;
  pool.page_size = shape.format.page_size;
  pool.num_pages = shape.num_pages;
  pool.heads_kv = shape.heads_kv;
  pool.head_dim_k = shape.head_dim_k;
  pool.head_dim_v = shape.head_dim_v;
  set_rows(pool, buffers, shape);
  if (shape.format.scales != KvScales::kTensor && shape.format.scales != KvScales::kBlock) {
    pool.v_scales = floats(buffers.back());
    pool.k_scales =
        shape.family == Family::kLatent ? pool.v_scales : floats(buffers[buffers.size() - 2]);
  }
  return pool;
}

}  // namespace attnbench
