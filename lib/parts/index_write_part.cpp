// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/index_write_part.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/contents/indexer_rows.h"
#include "lib/parts/select_part.h"
#include "lib/parts/stored_index_row.h"

namespace attnbench {
namespace {

constexpr std::int64_t kNewKeyBytes = IndexerInputs::kDim * size_bytes(DType::kBF16);
constexpr std::int64_t kNewSlotBytes = sizeof(std::int64_t);

/// The key of a request's new token as a kernel reads it.
std::array<std::byte, kNewKeyBytes> stored_new_key(const Contents& contents, std::int64_t request,
                                                   std::int64_t position) {
  std::array<std::byte, kNewKeyBytes> stored{};
  std::byte* to = stored.data();
  for (const float number : new_index_key(contents, request, position)) {
    store(DType::kBF16, to, number);
    to += size_bytes(DType::kBF16);
  }
  return stored;
}

void write_new_keys(const Contents& contents, const Case& c, Device& device, std::byte* to) {
  constexpr std::byte kNan{0xff};
  std::vector<std::byte> keys(to_size(tokens_with_padding(c) * kNewKeyBytes), kNan);
  std::int64_t end = 0;
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    const Request& request = c.requests[to_size(r)];
    end += request.q_len;
    for (std::int64_t behind = request.new_keys(); behind > 0; --behind) {
      const auto key = stored_new_key(contents, r, request.kv_len - behind);
      std::memcpy(keys.data() + (end - behind) * kNewKeyBytes, key.data(), key.size());
    }
  }
  device.copy_from_host(to, keys.data(), keys.size());
}

void put_changed_new_keys(const Contents& sample, const Contents& contents, const PutBytes& put) {
  const Case& c = sample.of_case();
  std::int64_t first_token = 0;
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    const Request& request = c.requests[to_size(r)];
    if (const std::int64_t key = changed_key(sample, r); key >= 0) {
      put((first_token + key - request.prefix_len()) * kNewKeyBytes,
          stored_new_key(contents, r, key));
    }
    first_token += request.q_len;
  }
}

void write_slots(const Case& c, const BatchLayout& layout, Device& device, std::byte* to) {
  std::vector<std::int64_t> slots(to_size(tokens_with_padding(c)), -1);
  std::int64_t end = 0;
  for (const Request& request : c.requests) {
    end += request.q_len;
    for (std::int64_t token = end - request.new_keys(); token < end; ++token) {
      slots[to_size(token)] = layout.batch.out_cache_loc[to_size(token)];
    }
  }
  device.copy_from_host(to, slots.data(), std::span(slots).size_bytes());
}

}  // namespace

std::vector<PartInput> index_write_inputs(const Case& c, const BatchLayout& layout) {
  return {{.name = "index_k",
           .bytes = tokens_with_padding(c) * kNewKeyBytes,
           .is_recent = true,
           .write = [&c](const Contents& contents, Device& device,
                         std::byte* to) { write_new_keys(contents, c, device, to); },
           .put_changes = put_changed_new_keys},
          {.name = "index_slots",
           .bytes = tokens_with_padding(c) * kNewSlotBytes,
           .is_parameter = true,
           .write = [&c, &layout](const Contents&, Device& device, std::byte* to) {
             write_slots(c, layout, device, to);
           }}};
}

std::int64_t index_write_input_bytes(const Case& c) {
  return (Count(tokens_with_padding(c)) * (kNewKeyBytes + kNewSlotBytes)).value();
}

IndexWrite index_write_at(const Case& c, std::int64_t pages, std::byte* cache,
                          std::span<std::byte* const> memory) {
  // A Device's memory is aligned for any type.
  return {.k = memory[0],
          .slots = static_cast<const std::int64_t*>(static_cast<const void*>(memory[1])),
          .cache = cache,
          .tokens = tokens_with_padding(c),
          .pages = pages,
          .page_size = c.kv_cache.page_size};
}

IndexRowPlace index_row_place(const Case& c, const IndexWrite& write, std::int64_t slot) {
  const std::int64_t bytes = stored_row_bytes(c), scale_bytes = stored_key_bytes(c) - bytes;
  const std::int64_t page = slot / write.page_size, row = slot % write.page_size;
  std::byte* const rows = write.cache + page * write.page_size * stored_key_bytes(c);
  std::byte* const scales = rows + write.page_size * bytes;
  return {rows + row * bytes, scale_bytes == 0 ? nullptr : scales + row * scale_bytes};
}

std::string fault_of_index_row(const Contents& contents, std::int64_t request,
                               std::int64_t position, std::span<const std::byte> bytes) {
  const Case& c = contents.of_case();
  const IndexKey key = index_key(contents, request, position, 1);
  const std::size_t size = to_size(stored_row_bytes(c));
  if (bytes.size() > size) {
    float scale = 0;
    std::memcpy(&scale, bytes.data() + size, sizeof scale);
    if (scale != key.scale) {
      return fmt::format("its scale is {}, want {}",
                         std::isnan(scale) ? "NaN" : fmt::format("{:g}", scale),
                         fmt::format("{:g}", key.scale));
    }
  }
  std::array<std::byte, kMostRowBytes> wanted{};
  store_row(c, key.row, key.scale, wanted.data());
  const DType dtype = c.layer.selection.scores_in_bf16() ? DType::kBF16 : DType::kE4M3;
  for (std::size_t at = 0; at < size; at += to_size(size_bytes(dtype))) {
    if (std::memcmp(bytes.data() + at, wanted.data() + at, to_size(size_bytes(dtype))) == 0)
      continue;
    return fmt::format("dim {} is {:g} as stored, want {:g}", at / to_size(size_bytes(dtype)),
                       load(dtype, bytes.data() + at), load(dtype, wanted.data() + at));
  }
  return {};
}

}  // namespace attnbench
