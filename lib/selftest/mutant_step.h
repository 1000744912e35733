// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/tensor_view.h"
#include "lib/batch/device_batch.h"
#include "lib/batch/kv_pool.h"
#include "lib/device/device.h"
#include "lib/model/attention_layer.h"
#include "lib/selftest/fault.h"

// Of what a mutant runs on a CPU and in a CUDA kernel.
#ifdef __CUDACC__
#define ATTNBENCH_HOST_DEVICE __host__ __device__
#else
#define ATTNBENCH_HOST_DEVICE
#endif

namespace attnbench {

/// One forward of a mutant. Plain data, so that a kernel takes it as its argument; addresses are
/// those of the device it runs on.
struct MutantStep {
  Fault fault = Fault::kNone;
  AttentionLayer layer;
  DeviceBatch batch;
  KvPool pool;
  std::int64_t tokens = 0;       ///< of all requests: the rows of O behind them stay untouched
  ConstTensorView q;             ///< [T, Hq, dk]
  const float* sinks = nullptr;  ///< [Hq] or null
  TensorView out;                ///< [T, Hq, dv]
  TensorView lse;                ///< [T, Hq, 1]
  float* sums = nullptr;         ///< [T, Hq, dv] O before its division
  /// Counts the forwards of kDiffersBetweenRuns and is never reset, as a kernel leaves the tickets
  /// of its blocks when it forgets to.
  std::uint32_t* runs = nullptr;

  /// Rows of O that belong to requests.
  [[nodiscard]] constexpr std::int64_t rows() const { return tokens * out.shape[1]; }
  /// All rows of O: T * Hq.
  [[nodiscard]] constexpr std::int64_t all_rows() const { return out.shape[0] * out.shape[1]; }
};

/// Enqueues a copy of `step` to `on_device`, aligned GPU memory.
void enqueue_step(const MutantStep& step, std::byte* on_device, Stream& stream);

/// Enqueues the step that lies at `on_device` as a kernel, a thread per row; Fault::kThrows as one
/// without threads, which no GPU launches. `step` has the same fault and rows. Throws CudaError; in
/// a build without CUDA, InternalError.
void launch_mutant(const MutantStep& step, const std::byte* on_device, Stream& stream);

}  // namespace attnbench
