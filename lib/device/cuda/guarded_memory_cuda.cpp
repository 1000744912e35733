// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lib/base/error.h"
#include "lib/device/cuda/guarded_memory.cuh"
#include "lib/device/cuda/handles.cuh"

namespace attnbench {
namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr int kGuardPattern = 0xa5;
constexpr int kPoison = 0xff;  // NaN in every float type

class GuardedMemory final : public Buffer {
 public:
  GuardedMemory(std::size_t bytes, DeviceArray<std::byte> memory, cudaStream_t stream)
      : bytes_(bytes), memory_(std::move(memory)), stream_(stream) {
    check_cuda(cudaMemsetAsync(memory_.get() + kGuardBytes, kPoison, bytes_, stream_),
               "cudaMemsetAsync");
    GuardedMemory::restore_guards();
  }

  [[nodiscard]] std::byte* data() noexcept override { return memory_.get() + kGuardBytes; }
  [[nodiscard]] std::size_t size() const noexcept override { return bytes_; }

  [[nodiscard]] bool guards_intact() const override {
    std::vector<std::byte> guards(2 * kGuardBytes);
    const std::byte* const after = memory_.get() + kGuardBytes + bytes_;
    check_cuda(
        cudaMemcpyAsync(guards.data(), memory_.get(), kGuardBytes, cudaMemcpyDeviceToHost, stream_),
        "cudaMemcpyAsync");
    check_cuda(cudaMemcpyAsync(guards.data() + kGuardBytes, after, kGuardBytes,
                               cudaMemcpyDeviceToHost, stream_),
               "cudaMemcpyAsync");
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    return std::ranges::all_of(guards, [](std::byte b) { return b == std::byte{kGuardPattern}; });
  }

  void restore_guards() override {
    for (std::byte* const guard : {memory_.get(), memory_.get() + kGuardBytes + bytes_}) {
      check_cuda(cudaMemsetAsync(guard, kGuardPattern, kGuardBytes, stream_), "cudaMemsetAsync");
    }
    check_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  std::size_t bytes_;
  DeviceArray<std::byte> memory_;
  cudaStream_t stream_;
};

}  // namespace

std::size_t free_gpu_memory() {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  return free_bytes;
}

std::unique_ptr<Buffer> make_guarded_memory(std::size_t bytes, std::string_view what,
                                            cudaStream_t stream) {
  const std::size_t available = free_gpu_memory();
  void* memory = nullptr;
  // The allocation is tried only when it fits, because the sum would wrap for absurd sizes.
  const cudaError_t status =
      bytes < available ? cudaMalloc(&memory, bytes + 2 * kGuardBytes) : cudaErrorMemoryAllocation;
  if (status == cudaErrorMemoryAllocation) {
    static_cast<void>(cudaGetLastError());  // not sticky
    throw EnvironmentError(fmt::format("{} needs {:.1f} GB of GPU memory, {:.1f} GB are available",
                                       what, static_cast<double>(bytes) / 1e9,
                                       static_cast<double>(available) / 1e9));
  }
  check_cuda(status, "cudaMalloc");
  return std::make_unique<GuardedMemory>(
      bytes, DeviceArray<std::byte>(static_cast<std::byte*>(memory)), stream);
}

}  // namespace attnbench
