// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/flashinfer_prefill.h"

namespace attnbench {

std::string_view to_string(PrefillPath path) {
  switch (path) {
    case PrefillPath::kRagged:
      return "ragged";
    case PrefillPath::kRaggedPaged:
      return "ragged_paged";
    case PrefillPath::kPaged:
      return "paged";
  }
  return "?";
}

PrefillDecision decide_prefill(const PrefillStep& step) {
  using enum PrefillPath;
  if (step.is_multimodal && !step.is_mla) return {kPaged, "a multimodal model"};
  if (step.scores_items && !step.is_mla) return {kPaged, "multi-item scoring"};
  if (step.is_deterministic && !step.is_mla) return {kPaged, "deterministic inference"};
  if (!step.some_prefix) return {kRagged, "no request has a prefix"};
  if (step.is_mla) return {kPaged, "MLA behind a prefix"};
  return {kRaggedPaged, "some request has a prefix"};
}

}  // namespace attnbench
