// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/compared_fixtures.h"

#include <gtest/gtest.h>

#include <limits>

#include "lib/base/error.h"
#include "lib/scenario/testing/small_cases.h"

namespace attnbench {
namespace {

constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();

/// A processor whose memory ends when it is told so.
class SmallDevice final : public Device {
 public:
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return device_->info(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes,
                                                 std::string_view what) override {
    if (failures > 0 && --failures == 0) throw EnvironmentError("no memory");
    ++allocations;
    return device_->allocate(bytes, what);
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return device_->make_stream(); }
  void copy_to_host(void* to, const std::byte* from, std::size_t bytes) override {
    device_->copy_to_host(to, from, bytes);
  }
  void copy_from_host(std::byte* to, const void* from, std::size_t bytes) override {
    device_->copy_from_host(to, from, bytes);
  }
  void flush_cache(Stream& stream) override { device_->flush_cache(stream); }
  void touch(Stream& stream, std::span<const std::span<const std::byte>> parts) override {
    device_->touch(stream, parts);
  }

  int allocations = 0;
  int failures = 0;  ///< the allocation that fails, counted from the next; 0: none

 private:
  std::unique_ptr<Device> device_ = make_cpu_device(1);
};

class ComparedFixturesTest : public testing::Test {
 protected:
  Case case_ = small_plain_decode();
  SmallDevice device_;
};

TEST_F(ComparedFixturesTest, are_made_once_for_all_backends) {
  ComparedFixtures others(device_, kAll);
  const auto first = others.of(case_, 1, {});
  const int allocations = device_.allocations;
  EXPECT_EQ(others.of(case_, 1, {}), first);
  EXPECT_EQ(device_.allocations, allocations);
  EXPECT_NE(others.of(case_, 0, {}), first) << "other pages";
  EXPECT_NE(others.of(case_, 1, {0}), first) << "another batch";
  others.clear();
  EXPECT_NE(others.of(case_, 1, {}), first);
}

TEST_F(ComparedFixturesTest, take_no_more_memory_than_they_may) {
  ComparedFixtures none(device_, 0);
  EXPECT_NE(none.of(case_, 1, {}), none.of(case_, 1, {}));
  const auto bytes = none.of(case_, 1, {})->fixture().bytes();
  ComparedFixtures one(device_, 2 * bytes - 1);
  const auto kept = one.of(case_, 1, {});
  EXPECT_EQ(one.of(case_, 1, {}), kept);
  EXPECT_NE(one.of(case_, 0, {}), one.of(case_, 0, {}));
}

TEST_F(ComparedFixturesTest, give_up_what_they_keep_before_they_find_no_memory) {
  ComparedFixtures others(device_, kAll);
  const std::weak_ptr<ComparedFixture> kept = others.of(case_, 1, {});
  device_.failures = 2;
  EXPECT_NE(others.of(case_, 0, {}), nullptr);
  EXPECT_TRUE(kept.expired());
  others.clear();
  device_.failures = 1;
  EXPECT_THROW(static_cast<void>(others.of(case_, 0, {})), EnvironmentError);
}

TEST_F(ComparedFixturesTest, hold_the_contents_whatever_a_backend_before_has_done) {
  ComparedFixtures others(device_, kAll);
  const auto other = others.of(case_, 1, {});
  other->fill(Fill::kNormal);
  std::byte* const key = other->fixture().kv_pool().k + other->fixture().kv_pool().page_stride_k;
  const std::string filled = other->fixture().hash();
  *key ^= std::byte{1};
  ASSERT_FALSE(other->fixture().changed_inputs().empty());
  other->fill(Fill::kNormal);
  EXPECT_TRUE(other->fixture().changed_inputs().empty());
  other->fill(Fill::kTiming);
  EXPECT_NE(other->fixture().hash(), filled);
  other->fill(Fill::kNormal);
  EXPECT_EQ(other->fixture().hash(), filled);
}

TEST_F(ComparedFixturesTest, are_new_ones_behind_a_backend_that_damaged_a_guard) {
  ComparedFixtures others(device_, kAll);
  const auto damaged = others.of(case_, 1, {});
  const AttentionTensors io = damaged->fixture().tensors();
  io.out.data[io.out.size() * size_bytes(io.out.dtype)] = std::byte{0};
  EXPECT_NE(others.of(case_, 1, {}), damaged);
}

}  // namespace
}  // namespace attnbench
