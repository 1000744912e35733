// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/likely_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "lib/base/dtype.h"
#include "lib/verify/causes.h"

namespace attnbench {
namespace {

constexpr double kNoKeys = -std::numeric_limits<double>::infinity();

Request& request_of(Case& c, const RowId& id) {
  return c.requests[static_cast<std::size_t>(id.request)];
}

/// A mistake in a rule: makes the case one in which it is the rule; false where it has no meaning.
struct WrongRule {
  const char* text;
  bool (*apply)(Case& c, const RowId& id);
};

bool is_plainly_causal(Case& c, const RowId& id) {
  return c.layer.causal && !c.layer.is_cross_attention && request_of(c, id).tree_parents.empty();
}

constexpr WrongRule kWrongRules[] = {
    {"one key too few, as with the lengths of the step before",
     [](Case& c, const RowId& id) {
       Request& request = request_of(c, id);
       return request.tree_parents.empty() && --request.kv_len >= 0;
     }},
    {"one key too many: a query sees the next one",
     [](Case& c, const RowId& id) {
       ++request_of(c, id).kv_len;
       return is_plainly_causal(c, id);
     }},
    {"one key alone, as with a mask aligned at the top left, or with the length of padding, of "
     "which "
     "a graph was recorded",
     [](Case& c, const RowId& id) {
       Request& request = request_of(c, id);
       const bool is_decode = request.q_len == 1 && request.tree_parents.empty();
       const bool differs = is_decode && request.kv_len > 1;
       request.kv_len = 1;
       return differs;
     }},
    {"a mask aligned at the top left: query i sees keys 0 to i",
     [](Case& c, const RowId& id) {
       Request& request = request_of(c, id);
       const bool differs = is_plainly_causal(c, id) && request.kv_len > request.q_len;
       request.kv_len = request.q_len;
       return differs;
     }},
    {"a window that reaches one key too far",
     [](Case& c, const RowId&) { return c.layer.sliding_window_size++ >= 0; }},
    {"a window that is one key too short",
     [](Case& c, const RowId&) { return --c.layer.sliding_window_size >= 0; }},
    {"no window",
     [](Case& c, const RowId&) {
       const bool had_one = c.layer.sliding_window_size >= 0;
       c.layer.sliding_window_size = -1;
       return had_one;
     }},
    {"no chunks",
     [](Case& c, const RowId&) {
       const bool had_some = c.layer.attention_chunk > 0;
       c.layer.attention_chunk = 0;
       return had_some;
     }},
    {"a window as long as a chunk instead of chunks",
     [](Case& c, const RowId&) {
       const bool differs = c.layer.attention_chunk > 0 && c.layer.sliding_window_size < 0;
       c.layer.sliding_window_size = c.layer.attention_chunk - 1;
       c.layer.attention_chunk = 0;
       return differs;
     }},
    {"a causal mask inside of blocks",
     [](Case& c, const RowId&) {
       const bool had_blocks = c.layer.causal_block > 1;
       c.layer.causal_block = 1;
       return had_blocks;
     }},
    {"a window that counts the nodes of a tree by the other rule",
     [](Case& c, const RowId& id) {
       const bool by_index = c.layer.window_in_trees == WindowInTrees::kIndex;
       c.layer.window_in_trees = by_index ? WindowInTrees::kDepth : WindowInTrees::kIndex;
       return c.layer.sliding_window_size >= 0 && !request_of(c, id).tree_parents.empty();
     }},
    {"the draft tree read as a chain",
     [](Case& c, const RowId& id) {
       std::vector<int>& parents = request_of(c, id).tree_parents;
       std::iota(parents.begin(), parents.end(), -1);
       return !parents.empty();
     }},
    {"no causal mask",
     [](Case& c, const RowId&) {
       const bool had_one = c.layer.causal && !c.layer.is_cross_attention;
       c.layer.causal = false;
       return had_one;
     }},
    {"no softcap",
     [](Case& c, const RowId&) {
       const bool had_one = c.layer.logit_cap > 0;
       c.layer.logit_cap = 0;
       return had_one;
     }},
    {"no temperature",
     [](Case& c, const RowId&) {
       const bool had_one = c.layer.temperature_len > 0;
       c.layer.temperature_len = 0;
       return had_one;
     }},
    {"K without its scale",
     [](Case& c, const RowId&) {
       c.layer.scale /= static_cast<double>(c.kv_cache.k_scale);
       return c.kv_cache.k_scale != 1;
     }},
    {"one form of the query for the keys of all dual chunks",
     [](Case& c, const RowId&) {
       const bool had_several = c.layer.dual_chunk.exists();
       c.layer.dual_chunk = {};
       return had_several;
     }},
    {"no ALiBi",
     [](Case& c, const RowId&) {
       const bool had_it = c.layer.has_alibi;
       c.layer.has_alibi = false;
       return had_it;
     }},
    {"no sinks",
     [](Case& c, const RowId&) {
       const bool had_them = c.layer.has_sinks;
       c.layer.has_sinks = false;
       return had_them;
     }},
    {"logits that are not scaled",
     [](Case& c, const RowId&) {
       c.layer.scale = 1;
       return true;
     }},
    {"logits scaled by the width of the cached row instead of the head's",
     [](Case& c, const RowId&) {
       c.layer.scale = 1 / std::sqrt(static_cast<double>(c.layer.head_dim_qk));
       return c.layer.shares_row_of_k_and_v();
     }},
    {"logits without YaRN's factor",
     [](Case& c, const RowId&) {
       const int dims = c.geometry.qk_nope_head_dim + c.geometry.qk_rope_head_dim;
       const double plain = 1 / std::sqrt(static_cast<double>(dims));
       const bool differs = c.geometry.is_mla() && c.layer.scale != plain;
       c.layer.scale = plain;
       return differs;
     }},
    {"Q without its scale",
     [](Case& c, const RowId&) {
       c.layer.scale /= static_cast<double>(c.q_scale);
       return c.q_scale != 1;
     }},
    {"the rope columns left out of q.k",
     [](Case& c, const RowId&) {
       c.layer.head_dim_qk = c.layer.head_dim_v;
       return c.layer.shares_row_of_k_and_v();
     }},
    {"the last rope column left out of q.k",
     [](Case& c, const RowId&) { return --c.layer.head_dim_qk > c.layer.head_dim_v; }},
};

/// A mistake in what becomes of a right row; false where it has no meaning.
struct WrongRow {
  const char* text;
  bool (*apply)(const Case& c, double sink, ReferenceRow& row);
};

void scale_outputs(ReferenceRow& row, double factor) {
  for (std::vector<double>* each : {&row.out, &row.a, &row.b}) {
    for (double& value : *each) value *= factor;
  }
}

constexpr WrongRow kWrongRows[] = {
    {"an LSE in base 2",
     [](const Case&, double, ReferenceRow& row) {
       row.lse /= std::numbers::ln2;
       return true;
     }},
    {"an LSE without the sink",
     [](const Case& c, double sink, ReferenceRow& row) {
       row.lse += std::log1p(-std::exp(sink - row.lse));
       return c.layer.has_sinks && c.layer.sink_in_lse() && row.visible > 0;
     }},
    {"an LSE with the sink, which chosen keys leave out",
     [](const Case& c, double sink, ReferenceRow& row) {
       row.lse = std::max(row.lse, sink) + std::log1p(std::exp(-std::fabs(row.lse - sink)));
       return c.layer.has_sinks && !c.layer.sink_in_lse();
     }},
    {"the sink counted twice",
     [](const Case& c, double sink, ReferenceRow& row) {
       const double once = row.lse;
       row.lse += std::log1p(std::exp(sink - once));
       scale_outputs(row, std::exp(once - row.lse));
       return c.layer.has_sinks;
     }},
    {"V without its scale",
     [](const Case& c, double, ReferenceRow& row) {
       const bool latent = c.layer.shares_row_of_k_and_v();
       const double scale = static_cast<double>(latent ? c.kv_cache.k_scale : c.kv_cache.v_scale);
       scale_outputs(row, 1 / scale);
       return scale != 1;
     }},
    {"outputs that were not divided by their scale",
     [](const Case& c, double, ReferenceRow& row) {
       scale_outputs(row, static_cast<double>(c.out_scale));
       return c.out_scale != 1;
     }},
    {"outputs multiplied by their scale instead of divided",
     [](const Case& c, double, ReferenceRow& row) {
       scale_outputs(row, static_cast<double>(c.out_scale) * static_cast<double>(c.out_scale));
       return c.out_scale != 1;
     }},
    {"no keys: the request's length taken for 0",
     [](const Case&, double, ReferenceRow& row) {
       scale_outputs(row, 0);
       row.lse = kNoKeys;
       return row.visible > 0;
     }},
    {"zeros in place of outputs, beside the right LSE",
     [](const Case&, double, ReferenceRow& row) {
       scale_outputs(row, 0);
       return row.visible > 0;
     }},
    {"zeros in place of outputs and LSEs",
     [](const Case&, double, ReferenceRow& row) {
       scale_outputs(row, 0);
       row.lse = 0;
       return row.visible > 0;
     }},
};

/// Data in which few keys hold all of the weight: a key that is missed is not told from one that is
/// taken for another there.
bool is_planted(Fill fill) { return fill != Fill::kNormal && fill != Fill::kTiming; }

/// Some elements that hold poison still, among others that were written: "one element that was
/// never written, dim 7". What is read from a slot that no request owns makes the whole row NaN.
std::string cause_of_gaps(DType dtype, std::span<const std::byte> out, bool lse_is_nan) {
  const auto step = static_cast<std::size_t>(size_bytes(dtype));
  std::size_t gaps = 0, first = 0, finite = 0;
  for (std::size_t d = 0; d * step < out.size(); ++d) {
    const auto element = out.subspan(d * step, step);
    if (std::isfinite(load(dtype, element.data()))) ++finite;
    if (!std::ranges::all_of(element, [](std::byte each) { return each == std::byte{0xff}; })) {
      continue;
    }
    if (gaps++ == 0) first = d;
  }
  if (gaps == 0 || finite == 0 || gaps + finite != out.size() / step || lse_is_nan) return {};
  if (gaps == 1) return fmt::format("one element that was never written, dim {}", first);
  return fmt::format("{} elements that were never written, the first dim {}", gaps, first);
}

/// What a row that is not finite comes from. Memory that nobody has written
/// holds poison, all bits of which are set: in outputs, and in slots of the cache that no request
/// owns. What is computed from poison is NaN, too, but as f32, so that an LSE has other bits.
std::string cause_of_empty(const Case& c, const Numerics& numerics,
                           std::span<const std::byte> got) {
  constexpr std::size_t kLseBytes = sizeof(float);
  const auto out = got.first(got.size() - kLseBytes);
  const auto lse = got.last(kLseBytes);
  const auto all_are = [](std::span<const std::byte> bytes, std::byte value) {
    return std::ranges::all_of(bytes, [=](std::byte each) { return each == value; });
  };
  const auto is_poison = [&](std::span<const std::byte> bytes) {
    return all_are(bytes, std::byte{0xff});
  };
  const DType dtype = c.out_dtype();
  bool has_nan = false;
  for (std::size_t at = 0; at < out.size(); at += static_cast<std::size_t>(size_bytes(dtype))) {
    has_nan = has_nan || std::isnan(load(dtype, &out[at]));
  }
  const bool lse_is_nan = numerics.lse && std::isnan(load(DType::kF32, lse.data()));
  if (std::string gaps = cause_of_gaps(dtype, out, lse_is_nan); !gaps.empty()) return gaps;
  // NaN that is only copied keeps its bits.
  const bool may_be_copied = c.kv_cache.dtype == dtype && (dtype == DType::kF32 || !numerics.lse);
  if (is_poison(out) && is_poison(lse) && may_be_copied) {
    return "an output that was never written, or a slot read that no request owns: both hold NaN";
  }
  if (is_poison(out) && (is_poison(lse) || !lse_is_nan)) return "an output that was never written";
  if (!has_nan && numerics.lse && is_poison(lse)) {
    return "an LSE that was never written; a kernel that gives none says so in numerics(), "
           "\"lse\": "
           "False";
  }
  if (has_nan || lse_is_nan) {
    return "a slot read that no request owns (those hold NaN), or with 0 / 0";
  }
  return {};
}

/// A row whose only numbers that are not finite stand where fp8 has none so large.
std::string cause_of_overflow(const Case& c, const ReferenceRow& right,
                              std::span<const std::byte> got) {
  if (!c.fp8.out) return {};
  const double unit = unit_roundoff(*c.fp8.out);  // of what a kernel's own sum may be off by
  const double most = (1 - unit) * largest_finite(*c.fp8.out) * static_cast<double>(c.out_scale);
  bool overflows = false;
  for (std::size_t d = 0; d < right.out.size(); ++d) {
    if (std::isfinite(load(*c.fp8.out, &got[d]))) continue;
    if (std::fabs(right.out[d]) < most) return {};
    overflows = true;
  }
  return overflows ? "outputs that overflow instead of becoming the largest number of their type"
                   : "";
}

}  // namespace

std::string likely_cause(const Case& c, const Contents& contents, const Numerics& numerics,
                         const RowId& id, std::span<const std::byte> got) {
  if (c.layer.is_recurrent() || id.state_row >= 0) return {};
  const auto evaluated = [&](const Case& rule) {
    return reference::evaluate_rows(rule, contents, {&id, 1}).front();
  };
  const bool explains =
      c.requests[static_cast<std::size_t>(id.request)].kv_len <= kMostKeysToExplain;
  const ReferenceRow right = explains ? evaluated(c) : ReferenceRow{};
  if (explains) {
    if (std::string cause = cause_of_overflow(c, right, got); !cause.empty()) return cause;
  }
  if (std::string cause = cause_of_empty(c, numerics, got); !cause.empty()) return cause;
  if (!explains) return {};
  const double sink = c.layer.has_sinks ? static_cast<double>(contents.sink(id.head)) : kNoKeys;
  for (const WrongRow& wrong : kWrongRows) {
    ReferenceRow row = right;
    if (wrong.apply(c, sink, row) && agrees(c, numerics, row, got)) return wrong.text;
  }
  for (const WrongRule& wrong : kWrongRules) {
    Case rule = c;
    if (!wrong.apply(rule, id)) continue;
    if (!agrees(rule, numerics, evaluated(rule), got)) continue;
    const bool tells_little = &wrong == kWrongRules && is_planted(contents.fill());
    return tells_little ? fmt::format("{}, or with a wrong last page", wrong.text) : wrong.text;
  }
  if (std::string cause = cause_of_list(c, contents, numerics, id, got); !cause.empty()) {
    return cause;
  }
  if (std::string cause = cause_of_scales(c, contents, numerics, id, got); !cause.empty()) {
    return cause;
  }
  if (std::string cause = cause_of_keys(c, contents, numerics, id, got); !cause.empty()) {
    return cause;
  }
  return cause_of_factor(c, contents, numerics, right, got);
}

std::optional<std::string> cause_of_worst(const Case& c, const Contents& contents,
                                          const Numerics& numerics, const WorstElement& worst,
                                          std::span<const ReferenceRow> truth,
                                          std::span<const std::byte> rows) {
  if (c.layer.is_recurrent() || truth.empty()) return std::nullopt;
  const std::size_t bytes = rows.size() / truth.size();
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const RowId& id = truth[i].id;
    if (id.request != worst.request || id.token != worst.token || id.head != worst.head) continue;
    const auto row = rows.subspan(i * bytes, bytes);
    if (agrees(c, numerics, truth[i], row)) return std::nullopt;
    const std::string cause = likely_cause(c, contents, numerics, id, row);
    return cause.empty() ? cause : std::string(kCausePhrase) + cause;
  }
  return std::nullopt;
}

}  // namespace attnbench
