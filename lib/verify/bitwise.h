// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/batch/device_batch.h"
#include "lib/fixture/fixture.h"
#include "lib/fixture/state_memory.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// The bits of O and LSE after a run.
class OutputBits {
 public:
  OutputBits() = default;
  /// A copy of `tokens` query tokens from token `first` on; `io` is readable by the host.
  OutputBits(const AttentionTensors& io, std::int64_t first, std::int64_t tokens);
  explicit OutputBits(const AttentionTensors& io) : OutputBits(io, 0, io.out.shape[0]) {}

  /// Elements whose bits differ. Two NaN are equal whatever their payload: it is the poison's, and
  /// differs between runs on purpose. `from` is where `other` starts among this object's tokens.
  [[nodiscard]] std::int64_t differing(const OutputBits& other, std::int64_t from = 0) const;

 private:
  DType dtype_ = DType::kF32;
  std::int64_t out_per_token_ = 0, lse_per_token_ = 0;  ///< elements
  std::vector<std::byte> out_, lse_;
};

/// The bits of a recurrent layer's states after a step, as a digest of each request's: whole states
/// are many times the size of the outputs.
class StateBits {
 public:
  StateBits() = default;
  /// Of each request's slots (slots_left()); `pool` is readable by the host. Without slots there
  /// are no bits.
  StateBits(const StatePool& pool, std::span<const StateSlots> slots);

  /// Requests whose states differ; both are of the same requests.
  [[nodiscard]] std::int64_t differing(const StateBits& other) const;
  /// The digest of one request's state; 0 where there are no states.
  [[nodiscard]] std::uint64_t of(std::size_t request) const {
    return digests_.empty() ? 0 : digests_.at(request);
  }

 private:
  std::vector<std::uint64_t> digests_;
};

/// Some of a case's requests, in another order, as a batch of their own.
struct BatchComposition {
  std::vector<std::size_t> requests;  ///< indices into the requests of the whole case
  Case step;                          ///< whose requests keep the contents that they had
};

/// The case of these requests alone, in this order.
[[nodiscard]] BatchComposition composition_of(const Case& c, std::vector<std::size_t> requests);

/// `count` batches of 1 to n of the case's n requests, drawn with the case's seed: the number of
/// requests, which ones, and their order. Each request is in some batch where count is n or more.
[[nodiscard]] std::vector<BatchComposition> batch_compositions(const Case& c, int count);

}  // namespace attnbench
