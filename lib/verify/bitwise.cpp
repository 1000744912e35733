// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/bitwise.h"

#include <cmath>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/fixture/digest.h"

namespace attnbench {
namespace {

std::vector<std::byte> copy_rows(const TensorView& view, std::int64_t first, std::int64_t tokens) {
  const auto row_bytes = static_cast<std::size_t>(view.shape[2] * size_bytes(view.dtype));
  std::vector<std::byte> bytes;
  bytes.reserve(static_cast<std::size_t>(tokens * view.shape[1]) * row_bytes);
  for (std::int64_t token = first; token < first + tokens; ++token) {
    for (std::int64_t head = 0; head < view.shape[1]; ++head) {
      const std::byte* const row = view.row(token, head);
      bytes.insert(bytes.end(), row, row + row_bytes);
    }
  }
  return bytes;
}

std::int64_t count_differing(DType dtype, std::span<const std::byte> a,
                             std::span<const std::byte> b) {
  if (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0) return 0;
  const auto step = static_cast<std::size_t>(size_bytes(dtype));
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); i += step) {
    if (std::memcmp(&a[i], &b[i], step) == 0) continue;
    if (!(std::isnan(load(dtype, &a[i])) && std::isnan(load(dtype, &b[i])))) ++count;
  }
  return count;
}

}  // namespace

OutputBits::OutputBits(const AttentionTensors& io, std::int64_t first, std::int64_t tokens)
    : dtype_(io.out.dtype),
      out_per_token_(io.out.shape[1] * io.out.shape[2]),
      lse_per_token_(io.lse.shape[1]),
      out_(copy_rows(io.out, first, tokens)),
      lse_(copy_rows(io.lse, first, tokens)) {}

std::int64_t OutputBits::differing(const OutputBits& other, std::int64_t from) const {
  expects(dtype_ == other.dtype_ && out_per_token_ == other.out_per_token_,
          "bits of different tensors");
  const auto part = [from](const std::vector<std::byte>& bytes, std::int64_t token_bytes,
                           std::size_t size) {
    const auto begin = static_cast<std::size_t>(from * token_bytes);
    expects(begin + size <= bytes.size(), "bits beyond the end");
    return std::span(bytes).subspan(begin, size);
  };
  const auto out = part(out_, out_per_token_ * size_bytes(dtype_), other.out_.size());
  const auto lse = part(lse_, lse_per_token_ * size_bytes(DType::kF32), other.lse_.size());
  return count_differing(dtype_, out, other.out_) + count_differing(DType::kF32, lse, other.lse_);
}

StateBits::StateBits(const StatePool& pool, std::span<const StateSlots> slots) {
  for (const StateSlots& each : slots) {
    const auto size = static_cast<std::size_t>(each.count * pool.slot_size());
    digests_.push_back(hash_bytes(std::as_bytes(std::span(pool.state(each.first, 0), size))));
  }
}

std::int64_t StateBits::differing(const StateBits& other) const {
  expects(digests_.size() == other.digests_.size(), "states of other requests");
  std::int64_t count = 0;
  for (std::size_t i = 0; i < digests_.size(); ++i) {
    count += digests_[i] != other.digests_[i] ? 1 : 0;
  }
  return count;
}

BatchComposition composition_of(const Case& c, std::vector<std::size_t> requests) {
  BatchComposition composition{std::move(requests), c};
  composition.step.requests.clear();
  composition.step.kv_cache.pool_tokens = 0;
  composition.step.padding = {};
  for (const std::size_t request : composition.requests) {
    Request copy = c.requests[request];
    if (copy.stream < 0) copy.stream = static_cast<std::int64_t>(request);
    composition.step.requests.push_back(std::move(copy));
  }
  return composition;
}

std::vector<BatchComposition> batch_compositions(const Case& c, int count) {
  std::vector<BatchComposition> all;
  const std::size_t n = c.requests.size();
  if (n == 0) return all;
  std::uint64_t state = combine(c.seed, 0xba7c4);
  const auto below = [&state](std::size_t limit) {
    state = combine(state, 1);
    return static_cast<std::size_t>(state % limit);
  };
  for (int i = 0; i < count; ++i) {
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::swap(order[0], order[static_cast<std::size_t>(i) % n]);  // each request has its turn
    for (std::size_t j = 1; j + 1 < n; ++j) std::swap(order[j], order[j + below(n - j)]);
    order.resize(1 + below(n));
    std::swap(order[0], order[below(order.size())]);
    all.push_back(composition_of(c, std::move(order)));
  }
  return all;
}

}  // namespace attnbench
