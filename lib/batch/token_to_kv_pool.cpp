// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/token_to_kv_pool.h"

#include "lib/base/error.h"

namespace attnbench {
namespace {

struct Strides {
  std::int64_t page = 0;
  std::int64_t token = 0;
  std::int64_t head = 0;
};

Strides dense_strides(const KvPoolShape& shape, int head_dim) {
  const std::int64_t page = shape.page_size * shape.heads_kv * head_dim;
  if (shape.layout == KvLayout::kHnd) return {page, head_dim, shape.page_size * head_dim};
  return {page, std::int64_t{shape.heads_kv} * head_dim, head_dim};
}

std::int64_t buffer_bytes(const KvPoolShape& shape, int head_dim) {
  return shape.num_pages * shape.page_size * shape.heads_kv * head_dim * size_bytes(shape.dtype);
}

KvPool described(const KvPoolShape& shape) {
  KvPool pool;
  pool.dtype = shape.dtype;
  pool.page_size = shape.page_size;
  pool.num_pages = shape.num_pages;
  pool.heads_kv = shape.heads_kv;
  pool.head_dim_k = shape.head_dim_k;
  pool.head_dim_v = shape.head_dim_v;
  return pool;
}

void set_k(KvPool& pool, std::byte* data, const Strides& strides) {
  pool.k = data;
  pool.page_stride_k = strides.page;
  pool.token_stride_k = strides.token;
  pool.head_stride_k = strides.head;
}

void set_v(KvPool& pool, std::byte* data, const Strides& strides) {
  pool.v = data;
  pool.page_stride_v = strides.page;
  pool.token_stride_v = strides.token;
  pool.head_stride_v = strides.head;
}

}  // namespace

std::int64_t k_buffer_bytes(const KvPoolShape& shape) {
  return buffer_bytes(shape, shape.head_dim_k);
}

std::int64_t v_buffer_bytes(const KvPoolShape& shape) {
  return buffer_bytes(shape, shape.head_dim_v);
}

KvPool mha_pool_view(std::byte* k, std::byte* v, const KvPoolShape& shape) {
  KvPool pool = described(shape);
  set_k(pool, k, dense_strides(shape, shape.head_dim_k));
  set_v(pool, v, dense_strides(shape, shape.head_dim_v));
  return pool;
}

KvPool mla_pool_view(std::byte* kv, const KvPoolShape& shape) {
  expects(shape.heads_kv == 1, "an MLA pool has one KV head");
  expects(shape.head_dim_v <= shape.head_dim_k, "the values of an MLA pool are a part of its keys");
  KvPool pool = described(shape);
  const Strides strides = dense_strides(shape, shape.head_dim_k);
  set_k(pool, kv, strides);
  set_v(pool, kv, strides);
  return pool;
}

}  // namespace attnbench
