// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/check.cuh"
#include "lib/selftest/mutant_row.h"

namespace attnbench {
namespace {

constexpr unsigned kThreads = 64;

__global__ void mutant_rows(const MutantStep* step) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  if (row < step->rows()) MutantRow(*step, row).run();
}

}  // namespace

void enqueue_step(const MutantStep& step, std::byte* on_device, Stream& stream) {
  check_cuda(cudaMemcpyAsync(on_device, &step, sizeof step, cudaMemcpyHostToDevice,
                             static_cast<cudaStream_t>(stream.native())),
             "cudaMemcpyAsync");
}

void launch_mutant(const MutantStep& step, const std::byte* on_device, Stream& stream) {
  // A grid without blocks is refused by the call; the GPU stays usable.
  const std::int64_t rows = step.fault == Fault::kThrows ? 0 : step.rows();
  const auto blocks = static_cast<unsigned>((rows + kThreads - 1) / kThreads);
  mutant_rows<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream.native())>>>(
      static_cast<const MutantStep*>(static_cast<const void*>(on_device)));
  check_launch("mutant_rows");
}

}  // namespace attnbench
