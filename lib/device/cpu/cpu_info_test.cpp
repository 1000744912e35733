// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/device/cpu/cpu_info.h"
#include "lib/device/device.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

template <class Error>
std::string message_for(std::string_view name) {
  try {
    static_cast<void>(cpu_target_named(name));
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(CpuTarget, names_lead_back_to_the_targets_of_this_processor) {
  ASSERT_FALSE(cpu_targets().empty());
  for (const CpuTarget target : cpu_targets()) {
    EXPECT_EQ(cpu_target_named(to_string(target)), target);
  }
  EXPECT_EQ(best_cpu_target(), cpu_targets().back());
}

TEST(CpuTarget, an_unknown_name_is_the_users_mistake_and_meets_the_names_that_work_here) {
  const std::string message = message_for<ConfigError>("avx521");
  EXPECT_THAT(message, HasSubstr("unknown CPU target 'avx521'"));
  EXPECT_THAT(message, HasSubstr("did you mean 'avx512'?"));
  for (const CpuTarget target : cpu_targets()) {
    EXPECT_THAT(message, HasSubstr(std::string(to_string(target))));
  }
}

TEST(CpuTarget, a_name_of_another_processor_is_a_matter_of_the_machine) {
  const std::vector<CpuTarget> here = cpu_targets();
  for (const CpuTarget target :
       {CpuTarget::kAvx2, CpuTarget::kAvx512, CpuTarget::kAvx512Bf16, CpuTarget::kNeon}) {
    if (std::ranges::find(here, target) != here.end()) continue;
    EXPECT_THAT(message_for<EnvironmentError>(to_string(target)),
                HasSubstr("this processor has no " + std::string(to_string(target))));
  }
}

TEST(CpuTarget, a_device_says_which_one_it_uses) {
  for (const CpuTarget target : cpu_targets()) {
    const DeviceInfo info = make_cpu_device(1, target)->info();
    EXPECT_EQ(info.cpu_target, target);
    EXPECT_THAT(info.arch, testing::EndsWith(" " + std::string(to_string(target))));
  }
}

/// A folder like /sys/devices/system/cpu.
class LastLevelCache : public testing::Test {
 protected:
  void cache(int cpu, int index, int level, const std::string& size, const std::string& shared_by) {
    const std::string folder =
        root_ + "/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index) + "/";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "level") << level << "\n";
    std::ofstream(folder + "size") << size << "\n";
    std::ofstream(folder + "shared_cpu_list") << shared_by << "\n";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string root_ = testing::TempDir() + "cpu_info_test_" + std::to_string(getpid());
};

constexpr std::int64_t kMiB = 1 << 20;

TEST_F(LastLevelCache, is_the_one_of_the_highest_level) {
  cache(0, 0, 1, "48K", "0");
  cache(0, 1, 3, "32M", "0-1");
  cache(0, 2, 2, "1024K", "0");
  const int cpus[] = {0};
  EXPECT_EQ(last_level_cache_bytes(cpus, root_), 32 * kMiB);
}

TEST_F(LastLevelCache, counts_once_what_several_cpus_share_and_all_that_they_do_not) {
  for (int cpu = 0; cpu < 4; ++cpu) cache(cpu, 0, 3, "32768K", cpu < 2 ? "0-1" : "2-3");
  const int half[] = {0, 1}, all[] = {0, 1, 2, 3};
  EXPECT_EQ(last_level_cache_bytes(half, root_), 32 * kMiB);
  EXPECT_EQ(last_level_cache_bytes(all, root_), 64 * kMiB);
}

TEST_F(LastLevelCache, is_nothing_where_no_file_tells) {
  const int cpus[] = {0, 1};
  EXPECT_EQ(last_level_cache_bytes(cpus, root_), 0);
  EXPECT_GT(last_level_cache_bytes(), 0);
}

}  // namespace

}  // namespace attnbench
