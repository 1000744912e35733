// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/testing/conformance.h"

#include <algorithm>
#include <cctype>

#include "lib/selftest/mutant_backend.h"

namespace attnbench::conformance {
namespace {

std::string fault_found_in(const Case& c, std::span<const FillTruth> truth, Fault fault) {
  return fault_in([fault] { return std::make_unique<MutantBackend>(fault); }, c, *make_cpu_device(),
                  truth);
}

/// One for each thing that conformance looks at. That the comparison with the truth finds all
/// others as well is shown by the tests of lib/selftest, on larger cases.
constexpr Fault kFaults[] = {
    Fault::kDropsLastToken,         // the outputs
    Fault::kLseBaseTwo,             // the LSE
    Fault::kWeightsInE4m3,          // their bounds
    Fault::kDiffersBetweenRuns,     // repeated runs
    Fault::kReadsTail,              // what no request owns
    Fault::kWritesBeyond,           // guard bytes
    Fault::kWritesBeyondWorkspace,  // those of the plan's memory
    Fault::kWritesInput,            // inputs
    Fault::kLeavesLastRow,          // rows that are not written
    Fault::kThrows,
};

class ConformanceOfMutant : public testing::TestWithParam<Fault> {};

TEST_P(ConformanceOfMutant, goes_red_at_a_case_that_passes_without_the_fault) {
  for (const Case& c : cases()) {
    const std::vector<FillTruth> truth = truth_of_all_rows(c, kFills);
    if (fault_found_in(c, truth, GetParam()).empty()) continue;
    EXPECT_EQ(fault_found_in(c, truth, Fault::kNone), "");
    return;
  }
  FAIL() << "no case shows it";
}

std::string name_of(const testing::TestParamInfo<Fault>& fault) {
  std::string name(to_string(fault.param));
  std::ranges::replace_if(
      name, [](unsigned char letter) { return !std::isalnum(letter); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Faults, ConformanceOfMutant, testing::ValuesIn(kFaults), name_of);

/// In cases that come late among cases().
class ListsOfMutant : public testing::TestWithParam<Fault> {};

TEST_P(ListsOfMutant, go_red_at_a_case_that_passes_without_the_fault) {
  for (const Case& c : small_selections()) {
    const std::vector<FillTruth> truth = truth_of_all_rows(c, kFills);
    if (fault_found_in(c, truth, GetParam()).empty()) continue;
    EXPECT_EQ(fault_found_in(c, truth, Fault::kNone), "");
    return;
  }
  FAIL() << "no case shows it";
}

INSTANTIATE_TEST_SUITE_P(Faults, ListsOfMutant,
                         testing::Values(Fault::kIgnoresSelection, Fault::kIgnoresTopkLength,
                                         Fault::kTakesMissingEntryForLastKey,
                                         Fault::kListOfNextGroup),
                         name_of);

}  // namespace
}  // namespace attnbench::conformance
