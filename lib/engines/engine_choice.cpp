// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "lib/engines/engine_backends.h"
#include "lib/engines/engine_rules.h"

namespace attnbench {
namespace {

struct Decision {
  std::string backend;  ///< empty: nothing is known
  std::string reason;
  std::string instead_of = {};  ///< EngineChoice::instead_of
};

/// The sentence with what the setup has in place of {device}, {heads} and {topk}.
std::string sentence(const std::string& why, const EngineSetup& s) {
  return fmt::format(fmt::runtime(why), fmt::arg("device", s.device.name),
                     fmt::arg("heads", s.heads_q), fmt::arg("topk", s.topk));
}

/// vLLM takes the first whose validate_configuration passes.
Decision first_of(Engine engine, const ChoiceRule& rule, const EngineSetup& s) {
  std::string passed_over, instead_of;
  for (const std::string& name : rule.first_of) {
    const EngineBackend* row = find_engine_backend(engine, name, s);
    const std::string refusal = validation_refusal(*row, s);
    if (refusal.empty()) {
      return {name,
              passed_over.empty() ? fmt::format("first of its list for {}{}", s.device.name,
                                                s.is_mla ? " and MLA" : "")
                                  : fmt::format("first of its list that fits: {}", passed_over),
              instead_of};
    }
    if (instead_of.empty() && model_refusal(*row, s, features_of(s)).empty()) instead_of = name;
    passed_over += fmt::format("{}{} ({})", passed_over.empty() ? "not " : ", ", name, refusal);
  }
  return {"", fmt::format("none of its list fits: {}", passed_over)};
}

/// What the first of the rules that holds says, behind a choice of `before`; null where none holds.
const ChoiceRule* rule_for(std::span<const ChoiceRule> rules, const EngineSetup& s,
                           std::string_view before = {}) {
  const auto holds = [&](const ChoiceRule& rule) {
    return (rule.of.empty() || rule.of == before) &&
           std::ranges::all_of(rule.when, [&](const auto& each) { return each.holds_for(s); });
  };
  const auto found = std::ranges::find_if(rules, holds);
  return found == rules.end() ? nullptr : &*found;
}

Decision decide(Engine engine, std::span<const ChoiceRule> rules, const EngineSetup& s,
                std::string_view before = {}) {
  const ChoiceRule* rule = rule_for(rules, s, before);
  if (rule == nullptr) return {};
  if (!rule->first_of.empty()) return first_of(engine, *rule, s);
  return {rule->take, sentence(rule->why, s)};
}

Decision decide_attention(Engine engine, const EngineSetup& s) {
  const EngineRules& rules = rules_of(engine, s);
  const Decision decision = decide(engine, rules.attention, s);
  const Decision instead = decide(engine, rules.replacements, s, decision.backend);
  if (instead.backend.empty()) return decision;
  return {instead.backend, instead.reason, decision.backend};
}

/// The engine's page size where nobody sets it.
std::int64_t usual_page_size(Engine engine) { return engine == Engine::kSglang ? 1 : 16; }

/// Where the backend does not read the pages asked for, the smallest that it reads.
std::string page_flag(Engine engine, const EngineBackend* row, const EngineSetup& s) {
  std::int64_t size = s.page_size > 0 ? s.page_size : usual_page_size(engine);
  if (row != nullptr && !reads_pages_of(*row, size, s.has_fp8_cache())) {
    size = pages_of(*row, s.has_fp8_cache()).front();
  }
  if (size == usual_page_size(engine)) return {};
  return fmt::format(" --{}-size {}", engine == Engine::kSglang ? "page" : "block", size);
}

/// The server's word for the cache, which SGLang has for a tensor's scales alone.
std::string cache_flag(Engine engine, const EngineSetup& s) {
  if (!s.has_fp8_cache()) return {};
  std::string_view word = s.kv_dtype == DType::kE4M3 ? "fp8_e4m3" : "fp8_e5m2";
  if (engine == Engine::kVllm) {
    const bool has_scales_inside =
        s.sparse == SparseAttention::kDsa || s.sparse == SparseAttention::kCompressed;
    if (are_of_blocks(s.kv_scales) || has_scales_inside) word = "fp8_ds_mla";
    if (s.kv_scales == KvScales::kToken) word = "fp8_per_token_head";
  }
  return fmt::format(" --kv-cache-dtype {}", word);
}

std::string flags_of(Engine engine, std::string_view backend, const EngineBackend* row,
                     const EngineSetup& s) {
  const bool sglang = engine == Engine::kSglang;
  std::string flags = s.is_deterministic && !sglang ? "VLLM_BATCH_INVARIANT=1" : "";
  const auto named = [&] { return fmt::format(" --attention-backend {}", backend); };
  if (row == nullptr || !row->of_model) flags += named();
  flags += page_flag(engine, row, s) + cache_flag(engine, s);
  if (sglang && s.topk > 0) flags += fmt::format(" --speculative-eagle-topk {}", s.topk);
  if (sglang && s.is_deterministic) flags += " --enable-deterministic-inference";
  if (sglang && s.scores_items) flags += " --enable-mis";
  return flags.starts_with(' ') ? flags.substr(1) : flags;
}

/// What the backend does not take, or may not; empty: it takes all.
std::string caveat_of(const EngineBackend& row, const EngineSetup& setup) {
  std::string refusal = refusal_of(row, setup);
  if (!refusal.empty()) return refusal;
  const std::string unknown = unknown_of(row, setup);
  return unknown.empty() ? unknown : "not known to take: " + unknown;
}

EngineChoice choice_of(const Decision& decision) {
  return {decision.backend, decision.reason, {}, {}, decision.instead_of};
}

}  // namespace

EngineChoice choose_backend(Engine engine, const EngineSetup& setup) {
  EngineChoice choice = choice_of(decide_attention(engine, setup));
  if (choice.backend.empty()) return choice;
  const EngineBackend* row = find_engine_backend(engine, choice.backend, setup);
  // A row of other layers says nothing of these, which the rule takes the backend for.
  if (row != nullptr && row->layers != layers_of(setup)) row = nullptr;
  choice.flags = flags_of(engine, choice.backend, row, setup);
  if (row != nullptr) choice.caveat = caveat_of(*row, setup);
  return choice;
}

EngineChoice choose_linear_backend(Engine engine, const EngineSetup& setup) {
  const bool sglang = engine == Engine::kSglang;
  EngineChoice choice = choice_of(decide(engine, rules_of(engine, setup).linear, setup));
  // vLLM chooses by the layer's class, and nothing asks for another.
  if (sglang && choice.backend == "triton") choice.flags = "--linear-attn-backend triton";
  if (!sglang && setup.is_deterministic) choice.caveat = "no deterministic inference";
  return choice;
}

EngineChoice choose_vision_backend(Engine engine, const EngineSetup& setup) {
  EngineChoice choice = choice_of(decide(engine, rules_of(engine, setup).vision, setup));
  if (choice.backend.empty()) return choice;
  const bool sglang = engine == Engine::kSglang;
  choice.flags = fmt::format("--{} {}", sglang ? "mm-attention-backend" : "mm-encoder-attn-backend",
                             choice.backend);
  return choice;
}

}  // namespace attnbench
