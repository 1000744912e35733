// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/check.cuh"
#include "lib/device/cuda/global_timer.cuh"
#include "lib/device/cuda/spin.cuh"

namespace attnbench {
namespace {

__global__ void spin(std::uint64_t ns) {
  const std::uint64_t begin = global_timer_ns();
  while (global_timer_ns() - begin < ns) {
  }
}

}  // namespace

void enqueue_spin(Stream& stream, std::uint64_t ns) {
  spin<<<1, 1, 0, static_cast<cudaStream_t>(stream.native())>>>(ns);
  check_launch("spin");
}

}  // namespace attnbench
