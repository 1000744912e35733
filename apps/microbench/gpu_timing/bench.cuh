// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/device/cuda/cuda_device.h"
#include "lib/measure/gpu_ceiling_kernels.cuh"

namespace attnbench::gpu_timing {

inline constexpr std::int64_t kMb = 1 << 20;  ///< bytes

/// Order statistics of some samples.
struct Spread {
  double min_us = 0, q1_us = 0, median_us = 0, q3_us = 0, max_us = 0;
  double enqueue_us = 0;
  double clock_mhz = 0;
};

/// What the experiments run on: a GPU, a stream, its timer, and 1 GiB of noise to read.
class Bench {
 public:
  explicit Bench(int samples);

  [[nodiscard]] Spread spread_of(const Work& prepare, const Work& work) const;
  [[nodiscard]] Spread spread_of(const std::function<TimedSample(int index)>& sample) const;

  /// Reads `bytes` at `offset` of the noise.
  [[nodiscard]] Work read(std::int64_t bytes, std::int64_t offset = 0) const;
  [[nodiscard]] Work flush() const;
  /// Kernels that end at once.
  [[nodiscard]] static Work empty_kernels(int count);
  [[nodiscard]] static Work spin(double us);
  [[nodiscard]] static Work nothing() {
    return [](Stream&) {};
  }
  [[nodiscard]] static cudaStream_t native(Stream& stream) {
    return static_cast<cudaStream_t>(stream.native());
  }

  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] Stream& stream() const { return *stream_; }
  [[nodiscard]] SampleTimer& timer() const { return *timer_; }
  [[nodiscard]] std::int64_t l2_bytes() const { return device_->info().last_level_cache_bytes; }
  [[nodiscard]] std::int64_t noise_bytes() const {
    return static_cast<std::int64_t>(noise_->size());
  }
  [[nodiscard]] std::byte* sink() const { return sink_->data(); }
  /// One sample of each row only, for a profiler that counts bytes.
  [[nodiscard]] bool once() const { return samples_ == 1; }

 private:
  int samples_;
  std::unique_ptr<Device> device_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<SampleTimer> timer_;
  std::unique_ptr<Buffer> noise_;
  std::unique_ptr<Buffer> sink_;
};

// Each prints one table in Markdown.
void compare_flushes(const Bench& bench);           ///< E1
void compare_blocking(const Bench& bench);          ///< E2
void watch_clocks_settle(const Bench& bench);       ///< E3
void measure_same_twice(const Bench& bench);        ///< E4
void fill_the_queue(const Bench& bench);            ///< E5
void compare_data(const Bench& bench);              ///< E6
void compare_many_node_graphs(const Bench& bench);  ///< E7

}  // namespace attnbench::gpu_timing
