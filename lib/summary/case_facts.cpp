// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/case_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string_view>

#include "lib/base/int_math.h"
#include "lib/engines/cascade_choice.h"
#include "lib/scenario/prefix_tree.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// Tokens on shared prefixes' whole pages that at least two requests lean on.
std::int64_t shared_tokens(const Case& c) {
  std::int64_t tokens = 0;
  for (int p = 0; p < std::ssize(c.prefixes); ++p) {
    const auto users = std::ranges::count_if(c.requests, [&](const Request& request) {
      return extends(c.prefixes, request.shared_prefix, p);
    });
    if (users > 1) tokens += own_whole_pages(c.prefixes, p, c.kv_cache.manager_page()).size();
  }
  return tokens;
}

/// "vLLM's use_cascade: yes": its rule's answer; empty where nothing is shared.
std::string cascade_text(const Case& c, int multiprocessors) {
  const std::string answer = choose_cascade(c, multiprocessors).answer;
  return answer == "-" ? "" : "vLLM's use_cascade: " + answer;
}

/// "graph of 64 (31 padding)": what a CUDA graph computes where it is larger than the batch.
std::string graph_text(const Case& c) {
  const auto requests = static_cast<std::int64_t>(c.requests.size());
  if (c.graph_bucket <= requests) return "";
  return fmt::format("graph of {} ({} padding)", c.graph_bucket, c.graph_bucket - requests);
}

/// "filled up by 3 requests, 8 token rows": what the step computes beside its requests.
std::string padding_text(const BatchPadding& padding) {
  std::vector<std::string> parts;
  const auto add = [&](std::int64_t count, const char* what) {
    if (count > 0) parts.push_back(counted(to_size(count), what));
  };
  add(padding.requests, "request");
  add(padding.tokens, "token row");
  return parts.empty() ? "" : fmt::format("filled up by {}", fmt::join(parts, ", "));
}

/// The part of the step that is run, where it is not attention alone.
std::string step_text(const Case& c) {
  return fmt::format(fmt::runtime(row_of(c.step).fact), to_string(c.index_form));
}

/// A write has no queries; of a cross layer it has the encoders' tokens, and not the decoder's.
std::string_view token_word(StepPart step) { return attends(step) ? "q" : "new"; }

/// The unusual properties of a case's layer and cache: "tp 8, window 1024, sinks, HND".
std::string layer_text(const Case& c) {
  std::vector<std::string> facts;
  const AttentionLayer& layer = c.layer;
  if (c.model_layers.layers > 0) {
    facts.push_back(fmt::format("{} of {} layers", layers_of_part(c), c.model_layers.of_step));
  }
  if (layer.is_recurrent()) facts.emplace_back(layer.recurrence());
  if (!layer.causal)
    facts.emplace_back(layer.is_cross_attention ? "cross attention" : "not causal");
  if (c.tp > 1) facts.push_back(fmt::format("tp {}", c.tp));
  if (layer.sliding_window_size >= 0) {
    facts.push_back(fmt::format("window {}", layer.sliding_window_size + 1));
  }
  if (layer.causal_block > 1) facts.push_back(fmt::format("blocks of {}", layer.causal_block));
  if (std::ranges::any_of(c.requests, [](const Request& r) { return !r.items.empty(); })) {
    facts.emplace_back("items");
  }
  if (layer.attention_chunk > 0) facts.push_back(fmt::format("chunk {}", layer.attention_chunk));
  if (layer.dual_chunk.exists()) {
    facts.push_back(fmt::format("dual chunk {}, local {}", layer.dual_chunk.chunk_size,
                                layer.dual_chunk.local_size));
  }
  if (layer.compress_ratio > 0) {
    facts.push_back(
        fmt::format("{}rows of {} tokens",
                    layer.selection.exists() ? fmt::format("{} chosen ", layer.selection.topk) : "",
                    layer.compress_ratio));
  } else if (layer.selection.exists()) {
    const Selection& rule = layer.selection;
    facts.push_back(fmt::format("chosen keys {}{}", rule.topk * rule.unit,
                                rule.window > 0 ? fmt::format(" before {}", rule.window) : ""));
  }
  if (layer.has_sinks) facts.emplace_back("sinks");
  if (layer.has_alibi) facts.emplace_back("ALiBi");
  if (layer.logit_cap > 0) facts.push_back(fmt::format("softcap {:g}", layer.logit_cap));
  if (layer.temperature_len > 0) {
    facts.push_back(fmt::format("temperature {}", layer.temperature_len));
  }
  if (!c.parts.empty()) facts.emplace_back("prompts expanded");
  if (layer.queries_apart) facts.emplace_back("queries apart");
  if (c.fp8.q) {
    const bool of_tensor = c.fp8.q_scales == QScales::kTensor;
    facts.push_back(fmt::format("Q in {}{}{}", to_string(*c.fp8.q), of_tensor ? "" : " by ",
                                of_tensor ? "" : to_string(c.fp8.q_scales)));
  }
  if (c.fp8.out) facts.push_back(fmt::format("O in {}", to_string(*c.fp8.out)));
  if (c.kv_cache.layout.value_or(KvLayout::kNhd) != KvLayout::kNhd) {
    facts.emplace_back(to_string(*c.kv_cache.layout));
  }
  if (c.kv_cache.scales != KvScales::kTensor) {
    facts.push_back(fmt::format("scales by {}", to_string(c.kv_cache.scales)));
  }
  if (c.kv_cache.swa_pool) facts.emplace_back("SWA pool");
  if (c.kv_cache.placement != Placement::kShuffled && !c.kv_cache.is_ragged()) {
    facts.emplace_back(to_string(c.kv_cache.placement));
  }
  return fmt::format("{}", fmt::join(facts, ", "));
}

/// Shorter waits are not worth a line: they are in the result file.
constexpr double kLongUs = 1e6;

}  // namespace

std::vector<std::string> case_facts(const Case& c, const Cost& cost, int multiprocessors,
                                    std::int64_t last_level_cache_bytes) {
  const std::int64_t shared = shared_tokens(c);
  return {fmt::format("{}    {}", c.id, counted(c.requests.size(), "seq")),
          step_text(c),
          fmt::format("{} {} token{}", count_text(c.q_tokens()), token_word(c.step),
                      c.q_tokens() == 1 ? "" : "s"),
          count_text(c.kv_tokens()) + " kv" +
              (shared > 0 ? fmt::format(" ({} shared)", count_text(shared)) : ""),
          layer_text(c),
          bytes_text(cost.bytes_unique) + " unique",
          si_text(static_cast<double>(cost.flops), "FLOP"),
          cascade_text(c, multiprocessors),
          padding_text(c.padding),
          graph_text(c),
          cost.bytes_unique <= last_level_cache_bytes ? "fits the last-level cache" : ""};
}

std::string first_use_text(std::span<const Record> of_case) {
  std::string text;
  std::set<std::string_view> named;  // a backend has a record for each of its cells
  for (const Record& r : of_case) {
    if (r.first_use_us < kLongUs || !named.insert(r.backend).second) continue;
    text += fmt::format("{}{} {:.3g} s", text.empty() ? "" : ", ", r.backend, r.first_use_us / 1e6);
  }
  return text;
}

}  // namespace attnbench
