// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu_target.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lib/base/error.h"
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

}  // namespace
}  // namespace attnbench
