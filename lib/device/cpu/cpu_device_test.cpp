// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "lib/base/error.h"
#include "lib/device/device.h"

namespace attnbench {
namespace {

TEST(CpuDevice, names_itself_and_its_resources) {
  const auto device = make_cpu_device();
  EXPECT_FALSE(device->info().name.empty());
  EXPECT_GE(device->info().units, 1);
  EXPECT_GE(device->info().last_level_cache_bytes, 1 << 20);
  EXPECT_GT(device->info().memory_bytes, 0);
}

TEST(CpuDevice, hands_out_aligned_memory_full_of_nan) {
  const auto device = make_cpu_device();
  const auto buffer = device->allocate(1000, "test");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer->data()) % 256, 0u);
  EXPECT_TRUE(std::ranges::all_of(std::span(buffer->data(), buffer->size()),
                                  [](std::byte b) { return b == std::byte{0xff}; }));
}

TEST(CpuDevice, notices_one_changed_byte_on_either_side) {
  const auto device = make_cpu_device();
  const auto buffer = device->allocate(1000, "test");
  EXPECT_TRUE(buffer->guards_intact());
  std::byte* const before = buffer->data() - 1;
  const std::byte kept = *before;
  *before = std::byte{0};
  EXPECT_FALSE(buffer->guards_intact());
  *before = kept;
  EXPECT_TRUE(buffer->guards_intact());
  *(buffer->data() + buffer->size()) = std::byte{0};
  EXPECT_FALSE(buffer->guards_intact());
}

TEST(CpuDevice, refuses_more_memory_than_there_is_with_both_figures) {
  const auto device = make_cpu_device();
  try {
    const auto buffer = device->allocate(std::size_t{1} << 50, "KV pool");
    FAIL() << "a petabyte was granted";
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("KV pool needs 1125899.9 GB"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("available"), std::string::npos);
  }
}

TEST(CpuDevice, touches_memory_of_any_size) {
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  for (const std::size_t bytes : {0u, 1u, 64u, 65u, 100'001u}) {
    const auto buffer = device->allocate(bytes, "test");
    const std::span<const std::byte> part(buffer->data(), buffer->size());
    device->touch(*stream, {&part, 1});
    EXPECT_TRUE(buffer->guards_intact());
  }
}

TEST(CpuDevice, flushing_twice_is_harmless) {
  const auto device = make_cpu_device(1);
  const auto stream = device->make_stream();
  device->flush_cache(*stream);
  device->flush_cache(*stream);
  stream->synchronize();
}

}  // namespace
}  // namespace attnbench
