// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <vector>

#include "lib/device/cpu/host_memory.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

/// A machine with 8 GiB free, as files below a folder of its own.
class AvailableMemory : public testing::Test {
 protected:
  AvailableMemory() {
    std::string pattern = (fs::temp_directory_path() / "attnbench-memory-XXXXXX").string();
    root_ = mkdtemp(pattern.data());
    write("/proc/meminfo", "MemTotal: 16777216 kB\nMemAvailable: 8388608 kB\n");
  }
  ~AvailableMemory() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  [[nodiscard]] std::int64_t gib() const { return available_memory_bytes(root_) >> 30; }

  std::string root_;
};

TEST_F(AvailableMemory, is_the_machine_s_where_nothing_limits_it) { EXPECT_EQ(gib(), 8); }

TEST_F(AvailableMemory, is_what_a_cgroup_leaves_and_what_those_above_it_leave) {
  write("/proc/self/cgroup", "0::/user/job\n");
  write("/sys/fs/cgroup/user/job/memory.max", "max\n");
  write("/sys/fs/cgroup/user/job/memory.current", "2147483648\n");
  EXPECT_EQ(gib(), 8);
  write("/sys/fs/cgroup/user/memory.max", "6442450944\n");
  write("/sys/fs/cgroup/user/memory.current", "2147483648\n");
  EXPECT_EQ(gib(), 4);
  write("/sys/fs/cgroup/user/memory.stat", "anon 5\ninactive_file 1073741824\n");
  EXPECT_EQ(gib(), 5) << "a file's pages are given up";
  write("/sys/fs/cgroup/user/job/memory.max", "3221225472\n");
  EXPECT_EQ(gib(), 1);
}

TEST_F(AvailableMemory, is_what_a_cgroup_of_version_1_leaves) {
  write("/proc/self/cgroup", "9:cpu,cpuacct:/\n5:memory:/docker/abc\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "3221225472\n");  // a container's own view
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "1073741824\n");
  EXPECT_EQ(gib(), 2);
  write("/sys/fs/cgroup/memory/memory.usage_in_bytes", "4294967296\n");
  EXPECT_EQ(gib(), 0);
}

TEST_F(AvailableMemory, is_what_ulimit_leaves) {
  write("/proc/self/statm", "262144 0 0\n");  // pages of 4 KiB: 1 GiB
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  const rlimit three{rlim_t{3} << 30, before.rlim_max};
  if (setrlimit(RLIMIT_AS, &three) != 0) GTEST_SKIP() << "a limit cannot be set here";
  const std::int64_t left = gib();
  setrlimit(RLIMIT_AS, &before);
  EXPECT_EQ(left, 2);
}

TEST(ResidentMemory, has_each_page_before_anybody_reads_it) {
  constexpr std::size_t kPartBytes = std::size_t{1} << 20;  // malloc maps such anew
  const ResidentMemory memory(3, kPartBytes);
  ASSERT_EQ(memory.words().size_bytes(), 3 * kPartBytes);
  std::vector<unsigned char> pages(3 * kPartBytes / ResidentMemory::kPageBytes);
  ASSERT_EQ(mincore(memory.words().data(), 3 * kPartBytes, pages.data()), 0);
  EXPECT_TRUE(std::ranges::all_of(pages, [](unsigned char each) { return (each & 1u) != 0; }));
}

TEST(ResidentMemory, can_be_empty) {
  EXPECT_TRUE(ResidentMemory().words().empty());
  EXPECT_TRUE(ResidentMemory(2, 0).words().empty());
}

}  // namespace

}  // namespace attnbench
