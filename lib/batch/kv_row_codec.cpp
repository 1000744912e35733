// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/kv_row_codec.h"

#include <cstddef>

#include "lib/base/error.h"

namespace attnbench {
namespace {

std::byte* row_of(const KvPool& pool, KvPart part, std::int64_t slot, int head) {
  return part == KvPart::kKey ? pool.k_row(slot, head) : pool.v_row(slot, head);
}

std::byte* element_of(const KvPool& pool, KvPart part, std::byte* row, int dim) {
  return part == KvPart::kKey ? pool.k_element(row, dim) : pool.v_element(row, dim);
}

float* scales_of(const KvPool& pool, KvPart part) {
  return part == KvPart::kKey ? pool.k_scales : pool.v_scales;
}

/// Calls visit(i) for each element, so that loops look alike.
template <class Visit>
void for_each_dim(std::size_t size, const Visit& visit) {
  for (std::size_t i = 0; i < size; ++i) visit(i, static_cast<int>(i));
}

}  // namespace

void store_kv_scales(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                     std::span<const float> scales) {
  if (pool.scales == KvScales::kToken) {
    expects(scales.size() == 1, "a row with a scale of its own brings it along");
    scales_of(pool, part)[slot * pool.heads_kv + head] = scales[0];
  } else if (pool.blocks.exists()) {
    expects(std::ssize(scales) == pool.blocks.scales(), "a row with scales brings them along");
    for (int i = 0; const float scale : scales) pool.store_block_scale(slot, i++, scale);
  } else {
    expects(scales.empty(), "rows share their scales");
  }
}

float kv_scale_at(const KvPool& pool, KvPart part, std::int64_t slot, int head, int dim) {
  switch (pool.scales) {
    case KvScales::kTensor:
      return part == KvPart::kKey ? pool.k_scale : pool.v_scale;
    case KvScales::kHead:
      return scales_of(pool, part)[head];
    case KvScales::kToken:
      return scales_of(pool, part)[slot * pool.heads_kv + head];
    case KvScales::kBlock:
    case KvScales::kGroup:
      if (dim >= pool.blocks.scaled) return 1;
      return pool.load_block_scale(slot, dim / pool.blocks.block);
    case KvScales::kRequest:
      throw InternalError("a row does not know its request: KvPool::shared_k_scale() does");
  }
  return 1;
}

void store_kv_row(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                  std::span<const float> stored, std::span<const float> scales) {
  store_kv_scales(pool, part, slot, head, scales);
  std::byte* const row = row_of(pool, part, slot, head);
  for_each_dim(stored.size(), [&](std::size_t i, int dim) {
    store(pool.element_dtype(dim), element_of(pool, part, row, dim), stored[i]);
  });
}

void load_kv_row(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                 std::span<float> stored) {
  std::byte* const row = row_of(pool, part, slot, head);
  for_each_dim(stored.size(), [&](std::size_t i, int dim) {
    stored[i] = load(pool.element_dtype(dim), element_of(pool, part, row, dim));
  });
}

void encode_kv_row(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                   std::span<const float> values, std::span<const float> scales) {
  store_kv_scales(pool, part, slot, head, scales);
  std::byte* const row = row_of(pool, part, slot, head);
  for_each_dim(values.size(), [&](std::size_t i, int dim) {
    store(pool.element_dtype(dim), element_of(pool, part, row, dim),
          values[i] / kv_scale_at(pool, part, slot, head, dim));
  });
}

void decode_kv_row(const KvPool& pool, KvPart part, std::int64_t slot, int head,
                   std::span<float> values) {
  load_kv_row(pool, part, slot, head, values);
  for_each_dim(values.size(), [&](std::size_t i, int dim) {
    values[i] *= kv_scale_at(pool, part, slot, head, dim);
  });
}

}  // namespace attnbench
