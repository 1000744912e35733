// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/outcome.h"

namespace attnbench {
namespace {

struct VerdictOf {
  Verdict operator()(const Accepted& accepted) const {
    switch (accepted.agreement) {
      case Agreement::kNotVerified:
        return Verdict::kNotVerified;
      case Agreement::kPassed:
        return Verdict::kPassed;
      case Agreement::kMistrusted:
        return Verdict::kMistrusted;
    }
    return Verdict::kNotVerified;
  }
  Verdict operator()(const Incorrect& /*outcome*/) const { return Verdict::kIncorrect; }
  Verdict operator()(const Unsupported& /*outcome*/) const { return Verdict::kUnsupported; }
  Verdict operator()(const Skipped& /*outcome*/) const { return Verdict::kSkipped; }
  Verdict operator()(const Crashed& /*outcome*/) const { return Verdict::kCrashed; }
};

}  // namespace

Verdict verdict_of(const Outcome& outcome) { return std::visit(VerdictOf{}, outcome); }

const std::string& reason_of(const Outcome& outcome) {
  return std::visit([](const auto& each) -> const std::string& { return each.reason; }, outcome);
}

Trouble trouble_of(const Outcome& outcome) {
  return std::visit(
      [](const auto& each) {
        if constexpr (requires { each.trouble; }) return each.trouble;
        return Trouble::kNone;
      },
      outcome);
}

Speed speed_of(const Outcome& outcome) {
  const auto* const accepted = std::get_if<Accepted>(&outcome);
  return accepted != nullptr ? accepted->speed : Speed::kNone;
}

bool is_timed(const Outcome& outcome) {
  const auto* const incorrect = std::get_if<Incorrect>(&outcome);
  return incorrect != nullptr ? incorrect->timed : speed_of(outcome) != Speed::kNone;
}

}  // namespace attnbench
