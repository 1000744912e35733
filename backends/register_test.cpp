// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/register.h"

#include <gmock/gmock.h>

namespace attnbench {
namespace {

TEST(RegisterBuiltinBackends, lists_what_runs_and_what_is_absent_with_its_reason) {
  Registry registry;
  register_builtin_backends(registry);
  EXPECT_THAT(
      registry.names(),
      testing::ElementsAre("torch_native", "cpu_flash", "splitkv", "splitkv:stepped",
                           "splitkv:dynamic", "splitkv:fixed_tile", "paged_fa", "mla", "cascade"));
  for (const Registry::Entry& entry : registry.entries()) {
    EXPECT_EQ(entry.make == nullptr, !entry.absence.empty()) << entry.info.name;
    const bool variant = entry.info.name.find(':') != std::string::npos;
    EXPECT_EQ(entry.info.by_default, !variant) << entry.info.name;
    if (!entry.make) continue;
    EXPECT_EQ(entry.make()->info().name, entry.info.name);
  }
}

}  // namespace
}  // namespace attnbench
