// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/pool_write_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <utility>

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/contents/pool_rows.h"
#include "lib/parts/index_write_part.h"
#include "lib/parts/select_part.h"

namespace attnbench {
namespace {

/// Drafts of a request, which may be rejected: all new tokens but the first.
std::int64_t drafts_of(const Case& c, const Request& request) {
  return c.mode == ForwardMode::kTargetVerify ? std::max<std::int64_t>(request.q_len - 1, 0) : 0;
}

/// Blocks for what waits before the step, and as many as an engine gives a request.
std::int64_t blocks_of_request(const Case& c) {
  const PoolShape shape = pool_shape(c);
  std::int64_t most = 0;
  for (const Request& request : c.requests) most = std::max(most, drafts_of(c, request));
  const auto pools = static_cast<std::uint64_t>(ceil_div(shape.members() + most, shape.keys));
  return shape.halves() + static_cast<std::int64_t>(std::bit_ceil(pools));
}

std::int64_t ring_rows(const Case& c) {
  const std::int64_t blocks = 1 + std::ssize(c.requests) * blocks_of_request(c);
  return (Count(blocks) * pool_shape(c).keys).value();
}

/// A row of the ring: gates may wait with what is added to them.
void store_ring_row(const Contents& contents, std::int64_t request, std::int64_t position,
                    std::byte* to) {
  const PoolShape shape = pool_shape(contents.of_case());
  PoolKey key = pool_key(contents, request, position);
  if (shape.waits_with_ape) {
    const std::vector<float> ape = pool_ape(contents.of_case(), position % shape.keys);
    std::ranges::transform(key.gate, ape, key.gate.begin(), std::plus());
  }
  store_new_numbers(shape.dtype, key.k, to);
  store_new_numbers(shape.dtype, key.gate, to + shape.key_bytes());
}

void write_ring(const Contents& contents, const Case& c, Device& device, std::byte* to) {
  const std::int64_t bytes = pool_shape(c).ring_row_bytes();
  std::vector<std::byte> ring(to_size(ring_rows(c) * bytes), std::byte{0xff});
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    const NewPoolKeys keys = new_pool_keys(c, c.requests[to_size(r)]);
    for (std::int64_t at = keys.first - keys.waiting(); at < keys.first; ++at) {
      store_ring_row(contents, r, at, ring.data() + ring_row(c, r, at) * bytes);
    }
  }
  device.copy_from_host(to, ring.data(), ring.size());
}

void write_ape(const Case& c, Device& device, std::byte* to) {
  std::vector<float> all;
  for (std::int64_t i = 0; i < pool_shape(c).keys; ++i) {
    const std::vector<float> numbers = pool_ape(c, i);
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  device.copy_from_host(to, all.data(), std::span(all).size_bytes());
}

/// One value for each token of the batch, `none` unless it is a new key.
template <class T>
void write_of_tokens(const Case& c, Device& device, std::byte* to, T none,
                     const std::function<T(std::int64_t request, std::int64_t position)>& of) {
  std::vector<T> values(to_size(tokens_with_padding(c)), none);
  for_each_new_key(c, [&](std::int64_t token, std::int64_t request, std::int64_t position) {
    values[to_size(token)] = of(request, position);
  });
  device.copy_from_host(to, values.data(), std::span(values).size_bytes());
}

void write_ring_rows(const Case& c, Device& device, std::byte* to) {
  write_of_tokens<std::int64_t>(c, device, to, -1, [&](std::int64_t r, std::int64_t position) {
    const bool waits = new_pool_keys(c, c.requests[to_size(r)]).waits(position);
    return waits ? ring_row(c, r, position) : -1;
  });
}

WaitingKeys waiting_for(const Case& c, std::int64_t request, std::int64_t position) {
  const NewPoolKeys keys = new_pool_keys(c, c.requests[to_size(request)]);
  if (!keys.closes(position)) return {};
  const std::int64_t member = keys.first_member(position / keys.shape.keys);
  const std::int64_t first = std::max<std::int64_t>(member, 0);
  WaitingKeys waiting{.absent = narrow_i32(first - member)};
  if (first >= keys.first) return waiting;
  waiting.first_row = narrow_i32(ring_row(c, request, first));
  waiting.count = narrow_i32(keys.first - first);
  return waiting;
}

void write_waiting(const Case& c, Device& device, std::byte* to) {
  write_of_tokens<WaitingKeys>(c, device, to, {}, [&](std::int64_t r, std::int64_t position) {
    return waiting_for(c, r, position);
  });
}

}  // namespace

NewPoolKeys new_pool_keys(const Case& c, const Request& request) {
  NewPoolKeys keys{.shape = pool_shape(c),
                   .first = request.kv_len - request.new_keys(),
                   .end = request.kv_len,
                   .first_waiting = request.kv_len};
  if (!keys.shape.waits()) return keys;
  const std::int64_t accepted = keys.end - drafts_of(c, request);
  keys.first_waiting = std::max(keys.first, keys.first_member(accepted / keys.shape.keys));
  return keys;
}

std::int64_t ring_row(const Case& c, std::int64_t request, std::int64_t position) {
  const NewPoolKeys keys = new_pool_keys(c, c.requests[to_size(request)]);
  const std::int64_t size = keys.shape.keys, before = keys.shape.halves();
  const std::int64_t blocks = blocks_of_request(c), pool = position / size;
  const std::int64_t behind_open = pool - keys.first / size;  // up to 0: before the step, too
  const std::int64_t block =
      behind_open <= 0 ? behind_open + before - 1 : before + pool % (blocks - before);
  return (1 + request * blocks + block) * size + position % size;
}

std::vector<PartInput> pool_write_inputs(const Case& c) {
  const PoolShape shape = pool_shape(c);
  const std::int64_t tokens = tokens_with_padding(c);
  PartInput gates = new_numbers_input(
      c, "index_gates", [](const Contents& contents, std::int64_t r, std::int64_t position) {
        return pool_key(contents, r, position).gate;
      });
  return {
      std::move(gates),
      {.name = "index_ape",
       .bytes = shape.keys * shape.columns() * size_bytes(DType::kF32),
       .is_parameter = true,
       .write = [&c](const Contents&, Device& device, std::byte* to) { write_ape(c, device, to); }},
      {.name = "index_ring",
       .bytes = ring_rows(c) * shape.ring_row_bytes(),
       .write = [&c](const Contents& contents, Device& device,
                     std::byte* to) { write_ring(contents, c, device, to); }},
      {.name = "index_ring_rows",
       .bytes = tokens * static_cast<std::int64_t>(sizeof(std::int64_t)),
       .is_parameter = true,
       .write = [&c](const Contents&, Device& device,
                     std::byte* to) { write_ring_rows(c, device, to); }},
      {.name = "index_waiting",
       .bytes = tokens * static_cast<std::int64_t>(sizeof(WaitingKeys)),
       .is_parameter = true,
       .write = [&c](const Contents&, Device& device, std::byte* to) {
         write_waiting(c, device, to);
       }}};
}

std::int64_t pool_write_input_bytes(const Case& c) {
  const PoolShape shape = pool_shape(c);
  const std::int64_t of_token =
      shape.key_bytes() + static_cast<std::int64_t>(sizeof(std::int64_t) + sizeof(WaitingKeys));
  return (Count(tokens_with_padding(c)) * of_token + Count(ring_rows(c)) * shape.ring_row_bytes() +
          Count(shape.keys) * shape.columns() * size_bytes(DType::kF32))
      .value();
}

PoolWrite pool_write_at(std::span<std::byte* const> memory) {
  // A Device's memory is aligned for any type.
  const auto at = [&](std::size_t which) { return static_cast<const void*>(memory[which]); };
  return {.gates = memory[0],
          .ape = static_cast<const float*>(at(1)),
          .ring = memory[2],
          .ring_rows = static_cast<const std::int64_t*>(at(3)),
          .waiting = static_cast<const WaitingKeys*>(at(4))};
}

std::string fault_of_ring_row(const Contents& contents, std::int64_t request, std::int64_t position,
                              std::span<const std::byte> bytes) {
  const PoolShape shape = pool_shape(contents.of_case());
  std::vector<std::byte> wanted(bytes.size());
  store_ring_row(contents, request, position, wanted.data());
  const std::int64_t size = size_bytes(shape.dtype);
  for (std::int64_t at = 0; at < std::ssize(wanted); at += size) {
    if (std::memcmp(bytes.data() + at, wanted.data() + at, to_size(size)) == 0) continue;
    return fmt::format("dim {} of the {} is {:g}, want {:g}", at % shape.key_bytes() / size,
                       at < shape.key_bytes() ? "key" : "gate",
                       load(shape.dtype, bytes.data() + at), load(shape.dtype, wanted.data() + at));
  }
  return {};
}

}  // namespace attnbench
