// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "lib/device/device.h"

namespace attnbench {

// All sizes are multiples of 4096 bytes.

/// Fills memory with bits that have no pattern: no zeros, which some memories move faster.
void enqueue_noise(Stream& stream, std::byte* to, std::int64_t bytes);

/// Reads all bytes once. `sink`, of 4 bytes, makes the reads observable.
void enqueue_read(Stream& stream, const std::byte* from, std::int64_t bytes, std::byte* sink);

/// Reads and writes `bytes` each.
void enqueue_copy(Stream& stream, std::byte* to, const std::byte* from, std::int64_t bytes);

/// About a millisecond of tensor core work on all SMs.
struct TensorWork {
  double flops = 0;
  std::function<void(Stream&, std::byte* sink)> enqueue;
};
/// Zeros serve an experiment that shows their effect: tensor cores draw less power on them.
enum class TensorData : std::uint8_t { kRandom, kZeros };
[[nodiscard]] TensorWork tensor_work_of(const DeviceInfo& info,
                                        TensorData data = TensorData::kRandom);

}  // namespace attnbench
