// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "lib/backend/numerics.h"
#include "lib/device/device.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Work of one forward, counted from the case: two FLOPs a multiply-add, softmax not counted. Of a
/// recurrent layer the states take the place of the KV cache: read where a request has a prefix,
/// and written, once, or once a node of a target_verify, whose children could go on from it where
/// it was computed; q, k, v, g, beta, O and the slots' numbers are counted once.
struct Cost {
  /// (query token, key) pairs that the mask lets through, per head; recurrent: 0. A key that a list
  /// names twice is one pair. Where lists have different numbers of keys it is their mean,
  /// rounded up.
  std::int64_t visible_pairs = 0;
  /// 2 Hq (dk + dv) visible_pairs; recurrent: 7 Hkv dk dv a token (decay 1, three products 2 each)
  std::int64_t flops = 0;
  std::int64_t bytes_unique = 0;    ///< each distinct byte once: the least a memory must deliver
  std::int64_t bytes_streamed = 0;  ///< KV per request without sharing
  std::int64_t kv_bytes_unique =
      0;  ///< KV part of bytes_unique (shared prefixes once, keys out of every window not at all)
  std::int64_t kv_bytes_streamed = 0;
  /// Rows of the cache that the step writes (StepPart), or what it builds, in bytes_unique and
  /// bytes_streamed, too: they may stay in the last-level cache, so that no time follows from them.
  /// So is what later stages of a pipeline read of that; else its cost is the sum of its stages'.
  std::int64_t kv_bytes_written = 0;
};

[[nodiscard]] Cost count_cost(const Case& c);

/// Rates of the machine, measured in the same process.
struct Ceilings {
  double read_bytes_per_s = 0;
  double copy_bytes_per_s = 0;  ///< bytes read plus bytes written
  double flop_per_s = 0;        ///< multiply-adds: f32 on a CPU, bf16 on a GPU's tensor cores
};

/// Least seconds that the counted work takes at the ceilings: the roofline (the slower of both
/// roofs). Of the bytes, those that a memory has to deliver: not kv_bytes_written.
[[nodiscard]] double roofline_s(const Cost& cost, const Ceilings& ceilings);

/// True when `work` (bytes or operations) in `seconds` is more than 1.02 x the measured `rate`
/// allows: then the count, the kernel or the ceiling is wrong. Without a rate, false.
[[nodiscard]] bool exceeds(std::int64_t work, double rate, double seconds);

/// The measured ceilings of a device as they hold for a backend of such numerics, one a step of
/// the case. Those of a GPU are of multiply-adds in bf16; a backend that declares operands in fp8
/// may multiply at twice that rate, on all tensor cores that take fp8 (NVIDIA's data sheets of
/// Ada, Hopper and Blackwell: 362 and 733 TFLOP/s of an L40S, 989 and 1979 of an H100).
[[nodiscard]] Ceilings ceilings_of_backend(const Ceilings& measured, DeviceKind kind,
                                           std::span<const Numerics> numerics);

}  // namespace attnbench
