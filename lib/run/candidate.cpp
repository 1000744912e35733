// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/candidate.h"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// What the exception being handled says about the machine or about attnbench.
Skipped current_trouble() {
  constexpr const char* kDefect = "attnbench itself failed: {}";
  try {
    throw;
  } catch (const EnvironmentError& error) {
    return {error.what(), HarnessError::kEnvironment};
  } catch (const std::bad_alloc&) {
    return {"out of memory", HarnessError::kEnvironment};
  } catch (const std::exception& error) {
    return {fmt::format(kDefect, error.what()), HarnessError::kDefect};
  } catch (...) {
    return {fmt::format(kDefect, "an exception without a message"), HarnessError::kDefect};
  }
}

}  // namespace

void Candidate::rule_out(Outcome outcome) {
  if (verification.verdict == Verdict::kIncorrect) {
    outcome = Incorrect{verification.reason, false, harness_error_of(outcome)};
  }
  ended = std::move(outcome);
}

void Candidate::end_for_current_exception() {
  if (!runs()) return;
  Skipped trouble = current_trouble();
  if (timings.empty()) {
    rule_out(std::move(trouble));
  } else {
    late_trouble = std::move(trouble);
  }
}

}  // namespace attnbench
