// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/case_support.h"

#include <fmt/format.h>

#include <string_view>

#include "lib/backend/numerics.h"
#include "lib/scenario/problem_of.h"

namespace attnbench {

FormatChoice for_part(FormatChoice refusal, const Case& part) {
  const std::string_view phase =
      part.mode == ForwardMode::kDecode ? "absorbed decodes" : "expanded prompts";
  refusal.support = Support::no(fmt::format("{}: {}", phase, refusal.support.reason()));
  return refusal;
}

std::string refusal_by_at_most(const VerifyConfig& config, std::span<const Numerics> declared) {
  if (!config.at_most) return {};
  const std::string stages = looser_than(*config.at_most, loosest(declared));
  if (stages.empty()) return {};
  return fmt::format("it declares {}, the scenario allows {} at most (verify.at_most)", stages,
                     to_string(*config.at_most));
}

FormatChoice choose_format_of(const Backend& backend, const Case& c) {
  FormatChoice choice;
  for (const Case& step : steps_of(c)) {
    choice = choose_format(backend, problem_of(step), step.kv_cache.layout);
    if (!choice) return c.parts.empty() ? choice : for_part(choice, step);
  }
  return choice;
}

}  // namespace attnbench
