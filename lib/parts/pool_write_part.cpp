// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/parts/pool_write_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "lib/base/count.h"
#include "lib/base/dtype.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"
#include "lib/contents/pool_rows.h"
#include "lib/parts/index_write_part.h"
#include "lib/parts/select_part.h"

namespace attnbench {
namespace {

constexpr std::int64_t kNumbersBytes = kRingRowBytes / 2;  // of a key, or a gate

/// Drafts of a request, which may be rejected: all new tokens but the first.
std::int64_t drafts_of(const Case& c, const Request& request) {
  return c.mode == ForwardMode::kTargetVerify ? std::max<std::int64_t>(request.q_len - 1, 0) : 0;
}

/// A block for the pool that is open before the step, and what an engine gives a request.
std::int64_t blocks_of_request(const Case& c) {
  const std::int64_t pool = c.layer.selection.pool();
  std::int64_t most = 0;
  for (const Request& request : c.requests) most = std::max(most, drafts_of(c, request));
  return 1 + static_cast<std::int64_t>(
                 std::bit_ceil(static_cast<std::uint64_t>(ceil_div(pool + most, pool))));
}

std::int64_t ring_rows(const Case& c) {
  const std::int64_t blocks = 1 + std::ssize(c.requests) * blocks_of_request(c);
  return (Count(blocks) * c.layer.selection.pool()).value();
}

void write_ring(const Contents& contents, const Case& c, Device& device, std::byte* to) {
  constexpr std::byte kNan{0xff};
  std::vector<std::byte> ring(to_size(ring_rows(c) * kRingRowBytes), kNan);
  for (std::int64_t r = 0; r < std::ssize(c.requests); ++r) {
    const NewPoolKeys keys = new_pool_keys(c, c.requests[to_size(r)]);
    for (std::int64_t at = keys.first - keys.waiting(); at < keys.first; ++at) {
      std::byte* const row = ring.data() + ring_row(c, r, at) * kRingRowBytes;
      const PoolKey key = pool_key(contents, r, at);
      store_new_numbers(key.k, row);
      store_new_numbers(key.gate, row + kNumbersBytes);
    }
  }
  device.copy_from_host(to, ring.data(), ring.size());
}

void write_ape(const Case& c, Device& device, std::byte* to) {
  for (std::int64_t i = 0; i < c.layer.selection.pool(); ++i) {
    const auto numbers = pool_ape(c, i);
    device.copy_from_host(to + i * std::ssize(std::as_bytes(std::span(numbers))), numbers.data(),
                          sizeof numbers);
  }
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

void write_waiting(const Case& c, Device& device, std::byte* to) {
  write_of_tokens<WaitingKeys>(c, device, to, {}, [&](std::int64_t r, std::int64_t position) {
    const NewPoolKeys keys = new_pool_keys(c, c.requests[to_size(r)]);
    const std::int64_t first = position / keys.pool * keys.pool;
    if (!keys.closes(position) || first >= keys.first) return WaitingKeys{};
    return WaitingKeys{narrow_i32(ring_row(c, r, first)), narrow_i32(keys.waiting())};
  });
}

}  // namespace

NewPoolKeys new_pool_keys(const Case& c, const Request& request) {
  NewPoolKeys keys{.pool = c.layer.selection.pool(),
                   .first = request.kv_len - request.new_keys(),
                   .end = request.kv_len,
                   .first_waiting = request.kv_len};
  if (keys.pool == 1) return keys;
  const std::int64_t accepted = keys.end - drafts_of(c, request);
  keys.first_waiting = std::max(keys.first, accepted / keys.pool * keys.pool);
  return keys;
}

std::int64_t ring_row(const Case& c, std::int64_t request, std::int64_t position) {
  const NewPoolKeys keys = new_pool_keys(c, c.requests[to_size(request)]);
  const std::int64_t blocks = blocks_of_request(c), pool = position / keys.pool;
  const std::int64_t block = pool == keys.first / keys.pool ? 0 : 1 + pool % (blocks - 1);
  return (1 + request * blocks + block) * keys.pool + position % keys.pool;
}

std::vector<PartInput> pool_write_inputs(const Case& c) {
  const std::int64_t tokens = tokens_with_padding(c), pool = c.layer.selection.pool();
  PartInput gates = new_numbers_input(
      c, "index_gates", [](const Contents& contents, std::int64_t r, std::int64_t position) {
        return pool_key(contents, r, position).gate;
      });
  return {
      std::move(gates),
      {.name = "index_ape",
       .bytes = pool * IndexerInputs::kDim * size_bytes(DType::kF32),
       .is_parameter = true,
       .write = [&c](const Contents&, Device& device, std::byte* to) { write_ape(c, device, to); }},
      {.name = "index_ring",
       .bytes = ring_rows(c) * kRingRowBytes,
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
  constexpr std::int64_t kOfToken = kNumbersBytes + sizeof(std::int64_t) + sizeof(WaitingKeys);
  return (Count(tokens_with_padding(c)) * kOfToken + Count(ring_rows(c)) * kRingRowBytes +
          Count(c.layer.selection.pool()) * IndexerInputs::kDim * size_bytes(DType::kF32))
      .value();
}

PoolWrite pool_write_at(const Case& c, std::span<std::byte* const> memory) {
  // A Device's memory is aligned for any type.
  const auto at = [&](std::size_t which) { return static_cast<const void*>(memory[which]); };
  return {.keys = c.layer.selection.pool(),
          .gates = memory[0],
          .ape = static_cast<const float*>(at(1)),
          .ring = memory[2],
          .ring_rows = static_cast<const std::int64_t*>(at(3)),
          .waiting = static_cast<const WaitingKeys*>(at(4))};
}

std::string fault_of_ring_row(const Contents& contents, std::int64_t request, std::int64_t position,
                              std::span<const std::byte> bytes) {
  const PoolKey key = pool_key(contents, request, position);
  std::array<std::byte, kRingRowBytes> wanted{};
  store_new_numbers(key.k, wanted.data());
  store_new_numbers(key.gate, wanted.data() + kNumbersBytes);
  const std::int64_t size = size_bytes(DType::kBF16);
  for (std::int64_t at = 0; at < kRingRowBytes; at += size) {
    if (std::memcmp(bytes.data() + at, wanted.data() + at, to_size(size)) == 0) continue;
    return fmt::format("dim {} of the {} is {:g}, want {:g}", at % kNumbersBytes / size,
                       at < kNumbersBytes ? "key" : "gate", load(DType::kBF16, bytes.data() + at),
                       load(DType::kBF16, wanted.data() + at));
  }
  return {};
}

}  // namespace attnbench
