// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/case.h"

namespace attnbench {

std::int64_t Case::q_tokens() const {
  std::int64_t sum = 0;
  for (const Request& request : requests) sum += request.q_len;
  return sum;
}

std::int64_t Case::padding_q_tokens() const {
  const bool has_queries = mode == ForwardMode::kDecode || mode == ForwardMode::kTargetVerify;
  return has_queries && !requests.empty() ? padding.requests * requests.front().q_len : 0;
}

std::int64_t Case::kv_tokens() const {
  std::int64_t sum = 0;
  for (const Request& request : requests) sum += request.kv_len;
  return sum;
}

std::span<const Case> steps_of(const Case& c) {
  return c.parts.empty() ? std::span(&c, 1) : std::span<const Case>(c.parts);
}

void set_step(Case& c, StepPart step) {
  c.step = step;
  for (Case& part : c.parts) part.step = step;
}

std::string_view to_string(Placement placement) {
  switch (placement) {
    case Placement::kContiguous:
      return "contiguous";
    case Placement::kShuffled:
      return "shuffled";
    case Placement::kInterleaved:
      return "interleaved";
    case Placement::kFragmented:
      return "fragmented";
    case Placement::kReversed:
      return "reversed";
  }
  return "?";
}

}  // namespace attnbench
