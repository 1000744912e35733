// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnbench {

/// Where FlashInfer's kernels read the keys of a prompt or a mixed step.
enum class PrefillPath : std::uint8_t {
  kRagged,       ///< the step's own, as they come; there are no others
  kRaggedPaged,  ///< those, and the prefixes' by pages in a second pass, merged by LSE
  kPaged,        ///< all by pages, the step's own written there before
};
/// "ragged", "ragged_paged", "paged".
[[nodiscard]] std::string_view to_string(PrefillPath path);

/// What SGLang's FlashInfer backends look at before such a step.
struct PrefillStep {
  bool some_prefix = false;  ///< some request has keys in the cache already
  bool is_mla = false;
  bool is_multimodal = false;
  bool scores_items = false;  ///< the server was started for multi-item scoring
  bool is_deterministic = false;
};

struct PrefillDecision {
  PrefillPath path = PrefillPath::kPaged;
  std::string_view reason;  ///< the clause that decided
};

/// SGLang's rule of 2026: use_ragged and extend_no_prefix in layers/attention/flashinfer_backend.py
/// and, for MLA, in flashinfer_mla_backend.py, which merges nothing. SGLANG_FLASHINFER_USE_PAGED or
/// --flashinfer-mla-disable-ragged, which no scenario has, would make each path kPaged; so would a
/// graph of tc_piecewise, which no NVIDIA GPU has by default.
[[nodiscard]] PrefillDecision decide_prefill(const PrefillStep& step);

}  // namespace attnbench
