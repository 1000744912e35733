// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "lib/device/device.h"
#include "lib/run/driver.h"

namespace attnbench {
namespace {

TEST(Environment, names_the_machine_but_not_the_host) {
  const auto device = make_cpu_device(1);
  const Environment e = describe_environment(device->info());
  EXPECT_FALSE(e.version.empty());
  EXPECT_FALSE(e.git_sha.empty());
  EXPECT_FALSE(e.compiler.empty());
  EXPECT_FALSE(e.os.empty());
  EXPECT_EQ(e.hostname_hash.size(), 12u);
  EXPECT_EQ(e.started_utc.size(), 20u);
  EXPECT_EQ(e.started_utc.back(), 'Z');
}

}  // namespace
}  // namespace attnbench
