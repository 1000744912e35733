// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/step_support.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/scenario/problem_of.h"

namespace attnbench {

namespace {

/// Index arrays are of a form, others of one kind only.
Support builds_form(const BackendInfo& info, const Case& c) {
  const std::vector<IndexForm>& forms = info.builds_indices;
  if (c.step != StepPart::kIndex || std::ranges::find(forms, c.index_form) != forms.end()) {
    return Support::yes();
  }
  std::vector<std::string_view> built;
  for (const IndexForm form : forms) built.push_back(to_string(form));
  return Support::no(
      fmt::format("it builds {}, not {}", fmt::join(built, " and "), to_string(c.index_form)));
}

Support supports_built(const BackendInfo& info, const Case& c) {
  if (std::string why = why_not_built(c, c.step); !why.empty()) return Support::no(std::move(why));
  if (!is_for_step(info, c.step)) return Support::no(std::string(row_of(c.step).refusal));
  if (c.step == StepPart::kSelect) return supports_padding(info, problem_of(c));
  return builds_form(info, c);
}

}  // namespace

Support supports_step(const BackendInfo& info, const Case& c) {
  if (builds(c.step)) {
    if (Support built = supports_built(info, c); !built) return built;
  }
  if (!writes_kv(c.step)) return Support::yes();
  if (c.layer.is_recurrent()) return Support::no("a recurrent layer has no KV cache to write");
  if (!info.writes_kv) return Support::no("it writes no KV cache: attention alone");
  if (c.mode == ForwardMode::kIdle && !attends(c.step)) {
    return Support::no("an idle step has no keys to write");
  }
  if (c.layer.is_cross_attention) {
    return Support::no(attends(c.step)
                           ? "cross attention reads none of the step's own keys: those of an "
                             "encoder are written by kv_write, apart from it"
                           : "cross attention: the step that brings an encoder's input writes its "
                             "keys, and no encoder is new here");
  }
  const KvCacheConfig& cache = c.kv_cache;
  if (cache.is_ragged()) return Support::no("ragged keys are read where projections left them");
  const bool is_fp8 = size_bytes(cache.dtype) == 1;
  if (!is_fp8 && (cache.k_scale != 1 || cache.v_scale != 1)) {
    return Support::no("a KV write divides by k_scale and v_scale exactly in an fp8 cache alone");
  }
  if (cache.dtype != c.dtype && size_bytes(cache.dtype) >= size_bytes(c.dtype)) {
    return Support::no(
        "activations cannot hold every number of the KV cache, which is no narrower");
  }
  if (c.dtype == DType::kF16 && are_of_blocks(cache.scales)) {
    return Support::no(
        "activations in f16 cannot hold every number of the row's bf16 part, whose exponents reach "
        "further");
  }
  if (c.dtype == DType::kF16 && cache.dtype == DType::kE5M2 && cache.scales == KvScales::kToken) {
    return Support::no(
        "activations in f16 cannot hold the smallest numbers of a row whose largest one is "
        "stored as e5m2's 57344");
  }
  return Support::yes();
}

}  // namespace attnbench
