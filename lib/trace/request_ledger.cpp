// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/request_ledger.h"

#include <fmt/format.h>

#include <cstddef>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// Tokens of an answer that an engine of this role makes.
std::int64_t answer_of(const TracedRequest& request, EngineRole role) {
  if (role == EngineRole::kPrefill) return 1;
  return request.output_tokens - (role == EngineRole::kDecode ? 1 : 0);
}

}  // namespace

void RequestLedger::add(const TracedStep& step) {
  for (const StepRequest& part : step.requests) {
    Account& account = accounts_[part.request];
    const std::int64_t computed = part.is_decode ? 0 : part.new_tokens;
    account.prompt_tokens +=
        static_cast<std::int32_t>(computed + part.hit_tokens + part.received_tokens);
    account.output_tokens += static_cast<std::int32_t>(part.produced_tokens);
    account.ends += part.ends ? 1 : 0;
  }
}

void RequestLedger::expect_balanced(EngineRole role) const {
  for (std::size_t i = 0; i < accounts_.size(); ++i) {
    const TracedRequest& request = trace_->requests[i];
    const Account& account = accounts_[i];
    const std::int64_t answer = answer_of(request, role);
    const std::int64_t prompt = answer == 0 ? 0 : request.input_tokens;
    if (account.prompt_tokens == prompt && account.output_tokens == answer &&
        account.ends == (answer == 0 ? 0 : 1)) {
      continue;
    }
    throw InternalError(fmt::format(
        "the simulated engine lost count of request {} of {}, in order of arrival: {} of {} prompt "
        "tokens were prefilled or hit, {} of {} tokens answered, and it ended {} times",
        i + 1, trace_->file, account.prompt_tokens, prompt, account.output_tokens, answer,
        account.ends));
  }
}

}  // namespace attnbench
