// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/trace/engine_rules.h"
#include "lib/trace/trace.h"
#include "lib/trace/traced_step.h"

namespace attnbench {

/// Counts what steps do for each request, and nothing that the simulator says of itself.
class RequestLedger {
 public:
  explicit RequestLedger(const Trace& trace) : trace_(&trace), accounts_(trace.requests.size()) {}

  void add(const TracedStep& step);

  /// Throws InternalError with the first request of which a token was prefilled or hit twice or
  /// never, an answer is short or long, or which did not end once. An engine for decodes does not
  /// see a request that its first token ended.
  void expect_balanced(EngineRole role) const;

 private:
  struct Account {
    std::int32_t prompt_tokens = 0;  ///< prefilled, hit or received
    std::int32_t output_tokens = 0;
    std::int32_t ends = 0;
  };
  const Trace* trace_;
  std::vector<Account> accounts_;
};

}  // namespace attnbench
