// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/cuda_device.h"
#include "lib/device/testing/gpu_test.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/device/cuda/check.cuh"

namespace attnbench {
namespace {

class OnGpu : public GpuTest {
 protected:
  [[nodiscard]] std::vector<std::byte> read(const std::byte* from, std::size_t bytes) {
    std::vector<std::byte> host(bytes);
    device_->copy_to_host(host.data(), from, bytes);
    return host;
  }
};

using CudaDevice = OnGpu;

TEST_F(CudaDevice, names_itself_and_its_resources) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.kind, DeviceKind::kCuda);
  EXPECT_FALSE(info.name.empty());
  EXPECT_EQ(info.arch.substr(0, 3), "sm_");
  EXPECT_GE(info.units, 8);
  EXPECT_GE(info.last_level_cache_bytes, 1 << 20);
  EXPECT_GT(info.memory_bytes, std::int64_t{1} << 30);
}

TEST_F(CudaDevice, takes_back_what_a_backend_set_aside_of_the_l2) {
  check_cuda(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, std::size_t{8} << 20),
             "cudaDeviceSetLimit");
  std::size_t bytes = 0;
  check_cuda(cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize), "cudaDeviceGetLimit");
  ASSERT_GT(bytes, 0u);
  device_->release_cache_reservations();
  check_cuda(cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize), "cudaDeviceGetLimit");
  EXPECT_EQ(bytes, 0u);
}

TEST_F(CudaDevice, embeds_a_graph_of_somebody_else_in_what_it_records) {
  const auto from = device_->allocate(4, "from"), to = device_->allocate(4, "to");
  const auto stream = device_->make_stream();
  const auto native = static_cast<cudaStream_t>(stream->native());
  const auto copy = [&] {
    check_cuda(cudaMemcpyAsync(to->data(), from->data(), 4, cudaMemcpyDeviceToDevice, native),
               "cudaMemcpyAsync");
  };
  check_cuda(cudaStreamBeginCapture(native, cudaStreamCaptureModeThreadLocal), "capture");
  copy();
  cudaGraph_t graph = nullptr;
  check_cuda(cudaStreamEndCapture(native, &graph), "capture");
  EXPECT_FALSE(stream->embed(graph)) << "nothing is being recorded";
  const auto recording = device_->record(*stream, [&](Stream& each) {
    EXPECT_TRUE(each.embed(graph));
    EXPECT_TRUE(each.embed(graph)) << "behind the first one";
  });
  check_cuda(cudaGraphDestroy(graph), "cudaGraphDestroy");  // it was copied
  const std::int32_t sent = 4711;
  std::int32_t found = 0;
  device_->copy_from_host(from->data(), &sent, 4);
  recording->replay(*stream);
  stream->synchronize();
  device_->copy_to_host(&found, to->data(), 4);
  EXPECT_EQ(found, sent);
}

TEST_F(CudaDevice, hands_out_aligned_memory_full_of_nan) {
  const auto buffer = device_->allocate(100'001, "test");
  EXPECT_EQ(buffer->size(), 100'001u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 256, 0u);
  EXPECT_TRUE(std::ranges::all_of(read(buffer->data(), buffer->size()),
                                  [](std::byte b) { return b == std::byte{0xff}; }));
}

TEST_F(CudaDevice, notices_one_changed_byte_on_either_side) {
  const auto buffer = device_->allocate(1000, "test");
  EXPECT_TRUE(buffer->guards_intact());
  const std::byte wrong{0};
  const std::byte kept = read(buffer->data() - 1, 1).front();
  device_->copy_from_host(buffer->data() - 1, &wrong, 1);
  EXPECT_FALSE(buffer->guards_intact());
  device_->copy_from_host(buffer->data() - 1, &kept, 1);
  EXPECT_TRUE(buffer->guards_intact());
  device_->copy_from_host(buffer->data() + buffer->size(), &wrong, 1);
  EXPECT_FALSE(buffer->guards_intact());
}

TEST_F(CudaDevice, copies_there_and_back) {
  std::vector<std::byte> bytes(3'000'001);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 % 251);
  const auto buffer = device_->allocate(bytes.size(), "test");
  device_->copy_from_host(buffer->data(), bytes.data(), bytes.size());
  EXPECT_EQ(read(buffer->data(), bytes.size()), bytes);
  EXPECT_TRUE(buffer->guards_intact());
}

TEST_F(CudaDevice, copies_in_a_stream_s_order_what_may_change_when_the_call_returns) {
  const auto to = device_->allocate(1 << 20, "to"), later = device_->allocate(1 << 20, "later");
  const auto stream = device_->make_stream();
  std::vector<std::byte> bytes(1 << 20, std::byte{1});
  for (const std::byte value : {std::byte{1}, std::byte{2}}) {
    std::ranges::fill(bytes, value);
    device_->enqueue_copy_from_host(*stream, to->data(), bytes.data(), bytes.size());
    std::ranges::fill(bytes, std::byte{9});
    if (value == std::byte{2}) break;
    check_cuda(cudaMemcpyAsync(later->data(), to->data(), bytes.size(), cudaMemcpyDeviceToDevice,
                               static_cast<cudaStream_t>(stream->native())),
               "cudaMemcpyAsync");
  }
  stream->synchronize();
  EXPECT_EQ(read(later->data(), bytes.size()), std::vector(bytes.size(), std::byte{1}));
  EXPECT_EQ(read(to->data(), bytes.size()), std::vector(bytes.size(), std::byte{2}));
}

TEST_F(CudaDevice, refuses_more_memory_than_there_is_with_both_figures) {
  for (const std::size_t bytes : {std::size_t{1} << 50, ~std::size_t{0}}) {
    try {
      const auto buffer = device_->allocate(bytes, "KV pool");
      FAIL() << "a petabyte was granted";
    } catch (const EnvironmentError& error) {
      EXPECT_NE(std::string(error.what()).find("KV pool needs"), std::string::npos);
      EXPECT_NE(std::string(error.what()).find("GB are available"), std::string::npos);
    }
  }
  EXPECT_NO_THROW(check_launch("nothing")) << "the refusal left an error behind";
  EXPECT_NE(device_->allocate(1 << 20, "test"), nullptr);
}

TEST_F(CudaDevice, refuses_an_ordinal_that_is_not_there) {
  EXPECT_THROW(static_cast<void>(make_cuda_device(64)), EnvironmentError);
  EXPECT_THROW(static_cast<void>(make_cuda_device(-1)), EnvironmentError);
}

TEST_F(CudaDevice, flushes_on_the_stream_it_is_given) {
  const auto stream = device_->make_stream();
  ASSERT_NE(stream->native(), nullptr);
  device_->flush_cache(*stream);
  device_->flush_cache(*stream);
  stream->synchronize();
}

TEST_F(CudaDevice, touches_memory_of_any_size_without_changing_it) {
  const auto stream = device_->make_stream();
  for (const std::size_t bytes : {0ul, 1ul, 4ul, 100ul, 3'000'001ul}) {
    const auto buffer = device_->allocate(bytes, "test");
    const std::span<const std::byte> part(buffer->data(), buffer->size());
    device_->touch(*stream, std::vector(30, part));
    stream->synchronize();
    EXPECT_TRUE(std::ranges::all_of(read(buffer->data(), bytes),
                                    [](std::byte b) { return b == std::byte{0xff}; }));
  }
}

TEST_F(CudaDevice, names_the_call_that_failed) {
  void* memory = nullptr;
  try {
    check_cuda(cudaMalloc(&memory, std::size_t{1} << 60), "cudaMalloc");
    FAIL() << "an exabyte was granted";
  } catch (const CudaError& error) {
    EXPECT_STREQ(error.what(), "cudaMalloc: cudaErrorMemoryAllocation (out of memory)");
  }
  EXPECT_NO_THROW(check_launch("nothing")) << "the error was left behind";
}

}  // namespace
}  // namespace attnbench
