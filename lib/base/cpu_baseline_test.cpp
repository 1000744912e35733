// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/cpu_baseline.h"

#include <gtest/gtest.h>

#include <string>

namespace attnbench {
namespace {

// The words of an Intel Xeon E5 v3 (Haswell), the first server processor that qualifies.
constexpr CpuWords kHaswell{
    .leaf1_ecx = 0x7ffefbff, .leaf7_ebx = 0x000037ab, .extended_ecx = 0x00000021, .xcr0 = 0x7};
// An Intel Xeon E5 v2 (Ivy Bridge): AVX and F16C, nothing later.
constexpr CpuWords kIvyBridge{
    .leaf1_ecx = 0x7fbee3ff, .leaf7_ebx = 0x00000281, .extended_ecx = 0x00000001, .xcr0 = 0x7};

// A static initialiser like any other: x86-64-v3 code that must not come first.
const bool kCheckedBeforeThis = baseline_cpu_was_checked();

TEST(CpuBaseline, checks_the_processor_before_static_initialisers_run) {
  EXPECT_TRUE(kCheckedBeforeThis);
}

TEST(CpuBaseline, accepts_a_processor_that_has_all_of_x86_64_v3) {
  EXPECT_STREQ(complaint_about(kHaswell).text, "");
}

TEST(CpuBaseline, names_every_feature_that_an_older_processor_lacks_in_one_sentence) {
  EXPECT_STREQ(
      complaint_about(kIvyBridge).text,
      "attnbench: this processor lacks AVX2, BMI1, BMI2, FMA, LZCNT, MOVBE; attnbench needs "
      "x86-64-v3 (Intel since Haswell, AMD since Excavator)\n");
}

TEST(CpuBaseline, refuses_a_machine_that_lacks_one_feature_alone) {
  CpuWords cpu = kHaswell;
  cpu.extended_ecx = 1;
  EXPECT_STREQ(complaint_about(cpu).text,
               "attnbench: this processor lacks LZCNT; attnbench needs x86-64-v3 (Intel since "
               "Haswell, AMD since Excavator)\n");
}

TEST(CpuBaseline, refuses_an_operating_system_that_saves_half_of_a_register) {
  CpuWords cpu = kHaswell;
  cpu.xcr0 = 0x3;
  EXPECT_STREQ(complaint_about(cpu).text,
               "attnbench: this processor lacks AVX registers saved by the operating system; "
               "attnbench needs x86-64-v3 (Intel since Haswell, AMD since Excavator)\n");
}

TEST(CpuBaseline, writes_a_whole_sentence_about_a_processor_that_has_nothing) {
  const std::string text = complaint_about(CpuWords{}).text;
  EXPECT_NE(text.find("lacks AVX, AVX2, BMI1, BMI2, F16C, FMA, LZCNT, MOVBE, AVX reg"),
            std::string::npos);
  EXPECT_TRUE(text.ends_with("Excavator)\n")) << text;
}

}  // namespace
}  // namespace attnbench
