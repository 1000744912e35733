// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "lib/device/gpu_state.h"

namespace attnbench {
namespace {

bool is_below_100(std::int64_t pid) { return pid < 100; }

TEST(GpuSharers, are_the_processes_of_a_gpu_that_are_not_this_programs) {
  const std::vector<GpuProcess> all = {{7, 10}, {500, 30}, {8, 20}, {501, 5}};
  const GpuSharers found = sharers_among(all, is_below_100);
  EXPECT_EQ(found.processes, 2);
  EXPECT_EQ(found.memory_bytes, 35);
  EXPECT_TRUE(found.disturb());
  const GpuSharers alone = sharers_among(std::vector<GpuProcess>{{7, 10}}, is_below_100);
  EXPECT_TRUE(alone.known());
  EXPECT_FALSE(alone.disturb());
}

TEST(GpuSharers, are_not_known_where_this_program_does_not_see_itself) {
  EXPECT_FALSE(sharers_among({}, is_below_100).known());
  EXPECT_FALSE(sharers_among(std::vector<GpuProcess>{{500, 30}}, is_below_100).known())
      << "numbers of another container";
}

TEST(GpuSharers, of_two_moments_are_those_of_the_busier_one) {
  GpuSharers all;
  all |= {};
  EXPECT_FALSE(all.known());
  all |= {0, 0};
  EXPECT_TRUE(all.known());
  all |= {2, 9};
  all |= {1, 50};
  EXPECT_EQ(all.processes, 2);
  EXPECT_EQ(all.memory_bytes, 9);
}

TEST(GpuSharers, are_not_this_process_or_one_that_it_started) {
  EXPECT_TRUE(is_of_this_program(getpid()));
  EXPECT_FALSE(is_of_this_program(getppid()));
  EXPECT_FALSE(is_of_this_program(0));
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_TRUE(is_of_this_program(child));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_FALSE(is_of_this_program(child));
}

}  // namespace

}  // namespace attnbench
