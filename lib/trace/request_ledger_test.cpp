// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/request_ledger.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

/// Two requests of 10 prompt tokens and 3 answered ones.
Trace two_requests() {
  Trace trace;
  trace.file = "t.csv";
  trace.requests = {{0, 10, 3}, {1, 10, 3}};
  return trace;
}

/// What serves one of them: 4 tokens hit, 6 prefilled, then two decodes.
std::vector<StepRequest> served(std::uint32_t request) {
  return {{request, 6, 10, 4, 0, 1, false, false},
          {request, 1, 11, 0, 0, 1, true, false},
          {request, 1, 12, 0, 0, 1, true, true}};
}

std::string complaint(const std::vector<StepRequest>& of_the_second,
                      EngineRole role = EngineRole::kBoth) {
  const Trace trace = two_requests();
  RequestLedger ledger(trace);
  for (const auto& parts : {served(0), of_the_second}) {
    TracedStep step;
    step.requests = parts;
    ledger.add(step);
  }
  try {
    ledger.expect_balanced(role);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "balanced";
}

TEST(RequestLedger, names_the_request_that_lost_or_gained_something) {
  EXPECT_EQ(complaint(served(1)), "balanced");
  auto parts = served(1);
  parts[0].new_tokens = 7;
  EXPECT_THAT(complaint(parts), HasSubstr("request 2 of t.csv, in order of arrival: 11 of 10"));
  parts = served(1);
  parts[0].hit_tokens = 3;
  EXPECT_THAT(complaint(parts), HasSubstr("9 of 10 prompt tokens were prefilled or hit"));
  parts = served(1);
  parts[1].produced_tokens = 2;
  EXPECT_THAT(complaint(parts), HasSubstr("4 of 3 tokens answered"));
  parts = served(1);
  parts[2].ends = false;
  EXPECT_THAT(complaint(parts), HasSubstr("it ended 0 times"));
  parts = served(1);
  parts[1].ends = true;
  EXPECT_THAT(complaint(parts), HasSubstr("it ended 2 times"));
  EXPECT_THAT(complaint({}), HasSubstr("0 of 10 prompt tokens"));
}

TEST(RequestLedger, expects_of_each_half_what_it_serves) {
  EXPECT_THAT(complaint(served(1), EngineRole::kPrefill), HasSubstr("request 1"));
  EXPECT_THAT(complaint(served(1), EngineRole::kDecode), HasSubstr("3 of 2 tokens answered"));
}

}  // namespace
}  // namespace attnbench
