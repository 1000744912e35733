// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/token_to_kv_pool.h"

#include <bit>
#include <utility>

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

/// Elements from page to page, whose rows have `dim` of them.
std::int64_t page_stride_of(const KvPoolShape& shape, std::int64_t dim) {
  return shape.format.tokens_apart() * shape.heads_kv * dim;
}

BlockRow block_row_of(const KvPoolShape& shape) {
  return block_row(shape.format.scales, shape.head_dim_v, shape.head_dim_k);
}

/// Elements of a latent row; bytes where it brings scales of blocks along.
std::int64_t latent_row(const KvPoolShape& shape) {
  const BlockRow row = block_row_of(shape);
  return row.exists() ? row.bytes : shape.head_dim_k;
}

std::int64_t latent_page_stride(const KvPoolShape& shape) {
  const BlockRow row = block_row_of(shape);
  return row.exists() ? row.page_bytes(shape.format.tokens_apart())
                      : page_stride_of(shape, shape.head_dim_k);
}

/// Of rows of `dim` elements that are not packed.
Strides plain_strides(const KvPoolShape& shape, std::int64_t dim) {
  const std::int64_t page = page_stride_of(shape, dim);
  const bool by_head =
      shape.format.layout == KvLayout::kHnd || shape.format.layout == KvLayout::kJointHnd;
  if (by_head) return {page, dim, shape.format.page_size * dim};
  return {page, shape.heads_kv * dim, dim};
}

/// Runs of `run` elements of all tokens of a page, before the next run of any.
Strides packed_strides(const KvPoolShape& shape, std::int64_t dim, int run) {
  const std::int64_t page_size = shape.format.page_size;
  return {page_stride_of(shape, dim), run, page_size * dim,
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
  Strides strides = plain_strides(shape, latent_row(shape));
  strides.page = latent_page_stride(shape);
  set_k(pool, data, strides);
  set_v(pool, data, strides);
}

void set_rows(KvPool& pool, std::span<std::byte* const> buffers, const KvPoolShape& shape) {
  if (shape.family == Family::kLatent) {
    set_latent_rows(pool, buffers[0], shape);
  } else if (shape.format.layout == KvLayout::kXPacked) {
    set_k(pool, buffers[0], packed_strides(shape, shape.head_dim_k, x_of(shape.format.dtype)));
    set_v(pool, buffers[1], packed_strides(shape, shape.head_dim_v, 1));
  } else if (is_joint(shape.format.layout)) {
    const Strides strides = plain_strides(shape, shape.head_dim_k + shape.head_dim_v);
    set_k(pool, buffers[0], strides);
    set_v(pool, buffers[0] + shape.head_dim_k * size_bytes(shape.format.dtype), strides);
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

/// A buffer whose dimension `page_dim`, of pages, has a stride of `page` elements; none: all dense.
CacheBuffer buffer_of(std::string name, std::optional<DType> dtype, std::vector<std::int64_t> shape,
                      std::optional<std::size_t> page_dim = {}, std::int64_t page = 0) {
  CacheBuffer buffer{std::move(name), dtype, std::move(shape), {}, false};
  buffer.strides.assign(buffer.shape.size(), 1);
  for (std::size_t d = buffer.shape.size(); d-- > 0;) {
    if (d + 1 < buffer.shape.size())
      buffer.strides[d] = buffer.strides[d + 1] * buffer.shape[d + 1];
    if (d == page_dim) buffer.strides[d] = page;
  }
  return buffer;
}

void append_rows(std::vector<CacheBuffer>& buffers, const KvPoolShape& shape) {
  const DType dtype = shape.format.dtype;
  const std::int64_t pages = shape.num_pages, page_size = shape.format.page_size;
  const std::int64_t heads = shape.heads_kv, dk = shape.head_dim_k, dv = shape.head_dim_v;
  const auto add = [&](std::string name, std::vector<std::int64_t> extent, std::int64_t row,
                       std::size_t page_dim = 0) {
    buffers.push_back(
        buffer_of(std::move(name), dtype, std::move(extent), page_dim, page_stride_of(shape, row)));
  };
  if (shape.family == Family::kLatent) {
    const BlockRow row = block_row_of(shape);
    std::vector<std::int64_t> extent{pages, page_size, 1, latent_row(shape)};
    if (row.behind > 0) extent = {pages, page_size * row.token_bytes()};
    const std::optional<DType> type = row.exists() ? std::nullopt : std::optional(dtype);
    buffers.push_back(buffer_of("kv pool", type, std::move(extent), 0, latent_page_stride(shape)));
    return;
  }
  switch (shape.format.layout) {
    case KvLayout::kNhd:
      add("k pool", {pages, page_size, heads, dk}, dk);
      add("v pool", {pages, page_size, heads, dv}, dv);
      return;
    case KvLayout::kHnd:
      add("k pool", {pages, heads, page_size, dk}, dk);
      add("v pool", {pages, heads, page_size, dv}, dv);
      return;
    case KvLayout::kCombined:
      add("kv pool", {2, pages, page_size, heads, dk}, dk, 1);
      return;
    case KvLayout::kXPacked: {
      const std::int64_t x = x_of(dtype);
      add("k pool", {pages, heads, dk / x, page_size, x}, dk);
      add("v pool", {pages, heads, dv, page_size}, dv);
      return;
    }
    case KvLayout::kJoint:
      add("kv pool", {pages, page_size, heads, dk + dv}, dk + dv);
      return;
    case KvLayout::kJointHnd:
      add("kv pool", {pages, heads, page_size, dk + dv}, dk + dv);
      return;
    case KvLayout::kRagged:
      buffers.push_back(buffer_of("k rows", dtype, {pages, heads, dk}));
      buffers.push_back(buffer_of("v rows", dtype, {pages, heads, dv}));
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
  const auto add = [&](std::string name) {
    buffers.push_back(buffer_of(std::move(name), DType::kF32, extent));
    buffers.back().holds_scales = true;
  };
  if (shape.family == Family::kLatent) return add("kv scales");
  add("k scales");
  add("v scales");
}

}  // namespace

KvPoolShape pool_shape_of(const AttentionLayer& layer, const CacheFormat& format,
                          std::int64_t num_pages, std::int64_t requests) {
  return {format,           num_pages, layer.family, layer.heads_kv, layer.head_dim_qk,
          layer.head_dim_v, requests};
}

std::int64_t CacheBuffer::bytes() const {
  return shape.front() * strides.front() * (dtype ? size_bytes(*dtype) : 1);
}

std::vector<CacheBuffer> cache_buffers(const KvPoolShape& shape) {
  std::vector<CacheBuffer> buffers;
  append_rows(buffers, shape);
  append_scales(buffers, shape);
  return buffers;
}

std::int64_t bytes_of_token(const KvPoolShape& shape) {
  if (const BlockRow row = block_row_of(shape); row.exists()) return row.token_bytes();
  KvPoolShape one = shape;
  one.format.page_size = 1;
  one.format.page_stride = 0;
  std::int64_t bytes = 0;
  for (const CacheBuffer& buffer : cache_buffers(one)) {
    const bool of_token = !buffer.holds_scales || shape.format.scales == KvScales::kToken;
    if (of_token) bytes += buffer.bytes() / one.num_pages;
  }
  return bytes;
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
  pool.blocks = block_row_of(shape);
  set_rows(pool, buffers, shape);
  if (shape.format.scales != KvScales::kTensor && !pool.blocks.exists()) {
    pool.v_scales = floats(buffers.back());
    pool.k_scales =
        shape.family == Family::kLatent ? pool.v_scales : floats(buffers[buffers.size() - 2]);
  }
  return pool;
}

}  // namespace attnbench
