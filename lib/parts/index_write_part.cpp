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
#include "lib/contents/pool_rows.h"
#include "lib/parts/pool_write_part.h"
#include "lib/parts/select_part.h"
#include "lib/parts/stored_index_row.h"

namespace attnbench {
namespace {

constexpr std::int64_t kNewKeyBytes = IndexerInputs::kDim * size_bytes(DType::kBF16);
constexpr std::int64_t kNewSlotBytes = sizeof(std::int64_t);

/// The numbers of a new token as a kernel reads them.
using StoredNumbers = std::array<std::byte, kNewKeyBytes>;
StoredNumbers stored_numbers(const NewIndexNumbers& numbers) {
  StoredNumbers stored{};
  store_new_numbers(numbers, stored.data());
  return stored;
}

void write_new_numbers(const Contents& contents, const Case& c, const NewNumbersOf& of,
                       Device& device, std::byte* to) {
  constexpr std::byte kNan{0xff};
  std::vector<std::byte> rows(to_size(tokens_with_padding(c) * kNewKeyBytes), kNan);
  for_each_new_key(c, [&](std::int64_t token, std::int64_t request, std::int64_t position) {
    store_new_numbers(of(contents, request, position), rows.data() + token * kNewKeyBytes);
  });
  device.copy_from_host(to, rows.data(), rows.size());
}

void put_changed_numbers(const Contents& sample, const Contents& contents, const NewNumbersOf& of,
                         const PutBytes& put) {
  const std::int64_t pool = sample.of_case().layer.selection.pool();
  for_each_new_key(sample.of_case(), [&](std::int64_t token, std::int64_t r, std::int64_t at) {
    if (at / pool != changed_key(sample, r)) return;
    put(token * kNewKeyBytes, stored_numbers(of(contents, r, at)));
  });
}

void write_slots(const Case& c, const BatchLayout& layout, Device& device, std::byte* to) {
  std::vector<std::int64_t> slots(to_size(tokens_with_padding(c)), -1);
  for_each_new_key(c, [&](std::int64_t token, std::int64_t r, std::int64_t position) {
    if (!new_pool_keys(c, c.requests[to_size(r)]).closes(position)) return;
    slots[to_size(token)] = index_slot(c, layout.batch.out_cache_loc[to_size(token)]);
  });
  device.copy_from_host(to, slots.data(), std::span(slots).size_bytes());
}

}  // namespace

void for_each_new_key(const Case& c, const NewKeyVisitor& visit) {
  std::int64_t end = 0;
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    const Request& request = c.requests[to_size(r)];
    end += request.q_len;
    for (std::int64_t behind = request.new_keys(); behind > 0; --behind) {
      visit(end - behind, r, request.kv_len - behind);
    }
  }
}

void store_new_numbers(const NewIndexNumbers& numbers, std::byte* to) {
  for (const float number : numbers) {
    store(DType::kBF16, to, number);
    to += size_bytes(DType::kBF16);
  }
}

PartInput new_numbers_input(const Case& c, const char* name, const NewNumbersOf& of) {
  return {
      .name = name,
      .bytes = tokens_with_padding(c) * kNewKeyBytes,
      .is_recent = true,
      .write = [&c, of](const Contents& contents, Device& device,
                        std::byte* to) { write_new_numbers(contents, c, of, device, to); },
      .put_changes = [of](const Contents& sample, const Contents& contents,
                          const PutBytes& put) { put_changed_numbers(sample, contents, of, put); }};
}

std::vector<PartInput> index_write_inputs(const Case& c, const BatchLayout& layout) {
  const bool has_pools = c.layer.selection.pool() > 1;
  std::vector<PartInput> inputs;
  inputs.push_back(new_numbers_input(
      c, "index_k", [=](const Contents& contents, std::int64_t r, std::int64_t position) {
        return has_pools ? pool_key(contents, r, position).k : new_index_key(contents, r, position);
      }));
  inputs.push_back({.name = "index_slots",
                    .bytes = tokens_with_padding(c) * kNewSlotBytes,
                    .is_parameter = true,
                    .write = [&c, &layout](const Contents&, Device& device, std::byte* to) {
                      write_slots(c, layout, device, to);
                    }});
  if (!has_pools) return inputs;
  for (PartInput& each : pool_write_inputs(c)) inputs.push_back(std::move(each));
  return inputs;
}

std::size_t count_of_index_write_inputs(const Case& c) {
  return kIndexWriteInputs + (c.layer.selection.pool() > 1 ? kPoolWriteInputs : 0);
}

std::int64_t index_write_input_bytes(const Case& c) {
  const Count of_keys = Count(tokens_with_padding(c)) * (kNewKeyBytes + kNewSlotBytes);
  return (of_keys + (c.layer.selection.pool() > 1 ? pool_write_input_bytes(c) : 0)).value();
}

IndexWrite index_write_at(const Case& c, std::int64_t pages, std::byte* cache,
                          std::span<std::byte* const> memory) {
  // A Device's memory is aligned for any type.
  IndexWrite write{.k = memory[0],
                   .slots = static_cast<const std::int64_t*>(static_cast<const void*>(memory[1])),
                   .cache = cache,
                   .tokens = tokens_with_padding(c),
                   .pages = pages,
                   .page_size = c.layer.selection.complete_pools(c.kv_cache.page_size)};
  if (c.layer.selection.pool() > 1) {
    write.pools = pool_write_at(c, memory.subspan(kIndexWriteInputs));
  }
  return write;
}

std::int64_t index_slot(const Case& c, std::int64_t slot) {
  return slot / c.layer.selection.pool();
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
  const std::int64_t pool = c.layer.selection.pool();
  const IndexKey key = index_key(contents, request, position / pool, pool);
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
