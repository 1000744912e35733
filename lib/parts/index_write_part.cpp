// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/index_write_part.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <utility>

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/contents/indexer_rows.h"
#include "lib/contents/pool_rows.h"
#include "lib/contents/pool_shape.h"
#include "lib/parts/pool_write_part.h"
#include "lib/parts/select_part.h"
#include "lib/parts/stored_index_row.h"

namespace attnbench {
namespace {

constexpr std::int64_t kNewSlotBytes = sizeof(std::int64_t);
constexpr std::byte kNan{0xff};

void write_new_numbers(const Contents& contents, const Case& c, const NewNumbersOf& of,
                       Device& device, std::byte* to) {
  const PoolShape shape = pool_shape(c);
  std::vector<std::byte> rows(to_size(tokens_with_padding(c) * shape.key_bytes()), kNan);
  for_each_new_key(c, [&](std::int64_t token, std::int64_t request, std::int64_t position) {
    store_new_numbers(shape.dtype, of(contents, request, position),
                      rows.data() + token * shape.key_bytes());
  });
  device.copy_from_host(to, rows.data(), rows.size());
}

void put_changed_numbers(const Contents& sample, const Contents& contents, const NewNumbersOf& of,
                         const PutBytes& put) {
  const PoolShape shape = pool_shape(sample.of_case());
  std::vector<std::byte> stored(to_size(shape.key_bytes()));
  for_each_new_key(sample.of_case(), [&](std::int64_t token, std::int64_t r, std::int64_t at) {
    if (!is_own_pool_key(sample, r, at)) return;
    store_new_numbers(shape.dtype, of(contents, r, at), stored.data());
    put(token * shape.key_bytes(), stored);
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

void store_new_numbers(DType dtype, std::span<const float> numbers, std::byte* to) {
  for (const float number : numbers) {
    store(dtype, to, number);
    to += size_bytes(dtype);
  }
}

PartInput new_numbers_input(const Case& c, const char* name, const NewNumbersOf& of) {
  return {
      .name = name,
      .bytes = tokens_with_padding(c) * pool_shape(c).key_bytes(),
      .is_recent = true,
      .write = [&c, of](const Contents& contents, Device& device,
                        std::byte* to) { write_new_numbers(contents, c, of, device, to); },
      .put_changes = [of](const Contents& sample, const Contents& contents,
                          const PutBytes& put) { put_changed_numbers(sample, contents, of, put); }};
}

std::vector<PartInput> index_write_inputs(const Case& c, const BatchLayout& layout) {
  const bool has_pools = pool_shape(c).waits();
  std::vector<PartInput> inputs;
  inputs.push_back(new_numbers_input(
      c, "index_k", [=](const Contents& contents, std::int64_t r, std::int64_t position) {
        if (has_pools) return pool_key(contents, r, position).k;
        const auto key = new_index_key(contents, r, position);
        return std::vector<float>(key.begin(), key.end());
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
  return kIndexWriteInputs + (pool_shape(c).waits() ? kPoolWriteInputs : 0);
}

std::int64_t index_write_input_bytes(const Case& c) {
  const PoolShape shape = pool_shape(c);
  const Count of_keys = Count(tokens_with_padding(c)) * (shape.key_bytes() + kNewSlotBytes);
  return (of_keys + (shape.waits() ? pool_write_input_bytes(c) : 0)).value();
}

IndexWrite index_write_at(const Case& c, std::int64_t pages, std::byte* cache,
                          std::span<std::byte* const> memory) {
  // A Device's memory is aligned for any type.
  IndexWrite write{.k = memory[0],
                   .slots = static_cast<const std::int64_t*>(static_cast<const void*>(memory[1])),
                   .cache = cache,
                   .tokens = tokens_with_padding(c),
                   .pages = pages,
                   .page_size = c.kv_cache.page_size / pool_shape(c).keys,
                   .shape = pool_shape(c)};
  if (write.shape.waits()) write.pools = pool_write_at(memory.subspan(kIndexWriteInputs));
  return write;
}

std::int64_t index_slot(const Case& c, std::int64_t slot) { return slot / pool_shape(c).keys; }

PartInput compressed_rows_input(const Case& c, const BatchLayout& layout) {
  const std::int64_t bytes = layout.num_pages * written_page_bytes(c);
  return {.name = "compressed_rows",
          .bytes = bytes,
          .write = [bytes](const Contents&, Device& device, std::byte* to) {
            const std::vector<std::byte> rows(to_size(bytes), kNan);
            device.copy_from_host(to, rows.data(), rows.size());
          }};
}

std::int64_t written_page_bytes(const Case& c) {
  const PoolShape shape = pool_shape(c);
  return c.kv_cache.page_size / shape.keys * (shape.row_bytes() + shape.scale_bytes());
}

IndexRowPlace index_row_place(const IndexWrite& write, std::int64_t slot) {
  const std::int64_t bytes = write.shape.row_bytes(), scale_bytes = write.shape.scale_bytes();
  const std::int64_t page = slot / write.page_size, row = slot % write.page_size;
  std::byte* const rows = write.cache + page * write.page_size * (bytes + scale_bytes);
  std::byte* const scales = rows + write.page_size * bytes;
  return {rows + row * bytes, scale_bytes == 0 ? nullptr : scales + row * scale_bytes};
}

std::string fault_of_index_row(const Contents& contents, std::int64_t request,
                               std::int64_t position, std::span<const std::byte> bytes) {
  const Case& c = contents.of_case();
  const PoolShape shape = pool_shape(c);
  const std::int64_t row = position / shape.keys, size = shape.row_bytes();
  std::vector<std::byte> wanted(to_size(size));
  if (c.step == StepPart::kCompress) {
    store_new_numbers(shape.row, compressed_row(contents, request, row), wanted.data());
  } else {
    const IndexKey key = index_key(contents, request, row, shape.keys);
    if (shape.scale_bytes() > 0) {
      float scale = 0;
      std::memcpy(&scale, bytes.data() + size, sizeof scale);
      if (scale != key.scale) {
        return fmt::format("its scale is {}, want {:g}",
                           std::isnan(scale) ? "NaN" : fmt::format("{:g}", scale), key.scale);
      }
    }
    store_row(c, key.row, key.scale, wanted.data());
  }
  for (std::int64_t at = 0; at < size; at += size_bytes(shape.row)) {
    const std::byte* const got = bytes.data() + at;
    if (std::memcmp(got, wanted.data() + at, to_size(size_bytes(shape.row))) == 0) continue;
    return fmt::format("dim {} is {:g} as stored, want {:g}", at / size_bytes(shape.row),
                       load(shape.row, got), load(shape.row, wanted.data() + at));
  }
  return {};
}

}  // namespace attnbench
