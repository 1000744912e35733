// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/junit.h"

#include <gtest/gtest.h>

#include <sstream>

namespace attnbench {
namespace {

TEST(Junit, tells_an_error_from_a_failure_and_escapes_what_it_is_given) {
  using enum JunitCase::Outcome;
  std::ostringstream out;
  write_junit_suite({.name = "a \"run\"",
                     .seconds = 1.5,
                     .cases = {{.class_name = "decode", .name = "fa"},
                               {.class_name = "decode",
                                .name = "fb",
                                .outcome = kFailure,
                                .word = "INCORRECT",
                                .reason = "O < 1",
                                .details = "a&b",
                                .seconds = 2e-6},
                               {.class_name = "decode",
                                .name = "fc",
                                .outcome = kError,
                                .word = "CRASHED",
                                .reason = "signal 11"},
                               {.class_name = "decode",
                                .name = "fd",
                                .outcome = kSkipped,
                                .word = "unsupported",
                                .reason = "no sinks"}}},
                    out);
  EXPECT_EQ(out.str(), R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="4" failures="1" errors="1" skipped="1" time="1.500">
  <testsuite name="a &quot;run&quot;" tests="4" failures="1" errors="1" skipped="1" time="1.500">
    <testcase classname="decode" name="fa"/>
    <testcase classname="decode" name="fb" time="0.000002000">
      <failure type="INCORRECT" message="O &lt; 1">a&amp;b</failure>
    </testcase>
    <testcase classname="decode" name="fc">
      <error type="CRASHED" message="signal 11"></error>
    </testcase>
    <testcase classname="decode" name="fd">
      <skipped message="unsupported: no sinks"/>
    </testcase>
  </testsuite>
</testsuites>
)");
}

}  // namespace
}  // namespace attnbench
