// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/conformance.h"

#include <algorithm>
#include <cctype>

#include "lib/verify/mutant_backend.h"

namespace attnbench::conformance {
namespace {

std::string fault_found_in(Fault fault) {
  return first_fault([fault] { return std::make_unique<MutantBackend>(fault); },
                     *make_cpu_device());
}

TEST(Conformance, finds_nothing_wrong_with_a_correct_backend) {
  EXPECT_EQ(fault_found_in(Fault::kNone), "");
}

/// All but those that show only where there are more keys than small cases have, of which one may
/// be all zeros; the cases of `attnbench selftest` have them.
std::vector<Fault> faults_that_small_cases_show() {
  std::vector<Fault> faults = all_faults();
  for (const Fault fault :
       {Fault::kDividesByZeroKey, Fault::kLongSplitDropsAKey, Fault::kLongSplitRoundsWeights}) {
    std::erase(faults, fault);
  }
  return faults;
}

class ConformanceOfMutant : public testing::TestWithParam<Fault> {};

TEST_P(ConformanceOfMutant, goes_red) { EXPECT_NE(fault_found_in(GetParam()), ""); }

INSTANTIATE_TEST_SUITE_P(Faults, ConformanceOfMutant,
                         testing::ValuesIn(faults_that_small_cases_show()),
                         [](const testing::TestParamInfo<Fault>& fault) {
                           std::string name(to_string(fault.param));
                           std::ranges::replace_if(
                               name, [](unsigned char letter) { return !std::isalnum(letter); },
                               '_');
                           return name;
                         });

}  // namespace
}  // namespace attnbench::conformance
