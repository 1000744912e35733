// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/scenario_keys.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr ScenarioKey kScenario[] = {
    {"scenario", ""},     {"description", ""}, {"seed", ""},        {"defaults", "defaults"},
    {"prefixes", ""},     {"mixes", ""},       {"sweep", "sweep"},  {"measure", "measure"},
    {"verify", "verify"}, {"backends", ""},    {"hybrid", "hybrid"}};
constexpr ScenarioKey kDefaults[] = {
    {"model", "model"}, {"layer", ""}, {"layers", ""},           {"mla", ""},
    {"tp", ""},         {"dtype", ""}, {"kv_cache", "kv_cache"}, {"attention", "attention"}};
constexpr ScenarioKey kMix[] = {{"model", "model"},
                                {"layer", ""},
                                {"layers", ""},
                                {"mla", ""},
                                {"tp", ""},
                                {"dtype", ""},
                                {"kv_cache", "kv_cache"},
                                {"attention", "attention"},
                                {"batch", "entry"},
                                {"padding", "padding"},
                                {"sweep", "sweep"}};
constexpr ScenarioKey kSharedPrefix[] = {{"tokens", ""}, {"after", ""}};
constexpr ScenarioKey kPadding[] = {{"requests", ""}, {"seq_len", ""}, {"tokens", ""}};
constexpr ScenarioKey kModel[] = {{"hf_config", ""},
                                  {"ignore", ""},
                                  {"heads_q", ""},
                                  {"heads_kv", ""},
                                  {"head_dim", ""},
                                  {"head_dim_v", ""},
                                  {"kv_lora_rank", ""},
                                  {"qk_nope_head_dim", ""},
                                  {"qk_rope_head_dim", ""},
                                  {"rope_scaling", "rope_scaling"},
                                  {"linear_num_key_heads", ""},
                                  {"linear_num_value_heads", ""},
                                  {"linear_key_head_dim", ""},
                                  {"linear_value_head_dim", ""}};
constexpr ScenarioKey kRopeScaling[] = {
    {"type", ""}, {"factor", ""}, {"mscale", ""}, {"mscale_all_dim", ""}};
constexpr ScenarioKey kKvCache[] = {{"page_size", ""}, {"layout", ""},      {"dtype", ""},
                                    {"scales", ""},    {"k_scale", ""},     {"v_scale", ""},
                                    {"placement", ""}, {"pool_tokens", ""}, {"swa_pool", ""}};
constexpr ScenarioKey kAttention[] = {
    {"window", "window"}, {"chunk", ""},           {"dual_chunk", "dual_chunk"},
    {"softcap", ""},      {"temperature_len", ""}, {"sinks", ""},
    {"alibi", ""},        {"causal", ""},          {"cross", ""},
    {"scale", ""},        {"q_dtype", ""},         {"q_scale", ""},
    {"q_scales", ""},     {"out_dtype", ""},       {"out_scale", ""},
    {"queries", ""}};
constexpr ScenarioKey kDualChunk[] = {{"chunk_size", ""}, {"local_size", ""}};
constexpr ScenarioKey kWindow[] = {{"keys_before", ""}, {"keys", ""}, {"in_trees", ""}};
constexpr ScenarioKey kEntry[] = {{"name", ""},
                                  {"count", ""},
                                  {"mode", ""},
                                  {"q_len", "length"},
                                  {"prefix_len", "length"},
                                  {"kv_len", "length"},
                                  {"encoder_len", "length"},
                                  {"prompt_len", "length"},
                                  {"chunk", "chunk"},
                                  {"prefix", ""},
                                  {"items", ""},
                                  {"block", ""},
                                  {"tree", "tree"},
                                  {"draft", "draft"},
                                  {"empty_rows", ""}};
constexpr ScenarioKey kChunk[] = {{"size", ""}, {"index", ""}};
constexpr ScenarioKey kDraft[] = {{"topk", ""}, {"step", ""}};
constexpr ScenarioKey kTree[] = {
    {"topk", ""}, {"depth", ""}, {"tokens", ""}, {"parents", ""}, {"chain", ""}};
constexpr ScenarioKey kLength[] = {{"uniform", ""},
                                   {"lognormal", "lognormal"},
                                   {"zipf", "zipf"},
                                   {"bimodal", "bimodal"},
                                   {"quantiles", "quantiles"},
                                   {"min", ""},
                                   {"max", ""}};
constexpr ScenarioKey kLognormal[] = {{"median", ""}, {"sigma", ""}};
constexpr ScenarioKey kZipf[] = {{"exponent", ""}, {"max", ""}};
constexpr ScenarioKey kBimodal[] = {{"low", ""}, {"high", ""}, {"high_share", ""}};
constexpr ScenarioKey kQuantiles[] = {{"table", ""}, {"column", ""}};
constexpr ScenarioKey kSweep[] = {{"grid", ""}, {"zip", ""}};
constexpr ScenarioKey kAxis[] = {{"range", "range"}, {"log2", "log2"}};
constexpr ScenarioKey kRange[] = {{"start", ""}, {"stop", ""}, {"step", ""}};
constexpr ScenarioKey kLog2[] = {{"start", ""}, {"stop", ""}};
constexpr ScenarioKey kMeasure[] = {{"cache", ""},          {"launch", ""},    {"step", ""},
                                    {"graph_buckets", ""},  {"precision", ""}, {"rounds", ""},
                                    {"block", ""},          {"samples", ""},   {"timeout", ""},
                                    {"workspace_limit", ""}};
constexpr ScenarioKey kHybrid[] = {
    {"prefill", ""}, {"decode", ""}, {"speculative_attention_mode", ""}};
constexpr ScenarioKey kVerify[] = {
    {"enabled", ""}, {"rows", ""}, {"fills", ""}, {"batch_invariant", ""}, {"at_most", ""}};

constexpr KeySection kSections[] = {{"scenario", kScenario},
                                    {"defaults", kDefaults},
                                    {"mix", kMix},
                                    {"padding", kPadding},
                                    {"model", kModel},
                                    {"rope_scaling", kRopeScaling},
                                    {"kv_cache", kKvCache},
                                    {"attention", kAttention},
                                    {"window", kWindow},
                                    {"entry", kEntry},
                                    {"chunk", kChunk},
                                    {"tree", kTree},
                                    {"draft", kDraft},
                                    {"length", kLength},
                                    {"lognormal", kLognormal},
                                    {"zipf", kZipf},
                                    {"bimodal", kBimodal},
                                    {"quantiles", kQuantiles},
                                    {"sweep", kSweep},
                                    {"axis", kAxis},
                                    {"range", kRange},
                                    {"log2", kLog2},
                                    {"measure", kMeasure},
                                    {"verify", kVerify},
                                    {"hybrid", kHybrid},
                                    {"dual_chunk", kDualChunk},
                                    {"prefix", kSharedPrefix}};

struct UsualName {
  std::string_view usual, own;
};
// Names in vLLM, SGLang, FlashInfer, FlashAttention, PyTorch and Hugging Face's config.json, and of
// NVIDIA's GPUs, for what has another name here.
constexpr UsualName kUsualNames[] = {{"sliding_window", "window"},
                                     {"window_size", "window"},
                                     {"window_left", "window"},
                                     {"logit_cap", "softcap"},
                                     {"logits_soft_cap", "softcap"},
                                     {"attn_logit_softcapping", "softcap"},
                                     {"attention_chunk_size", "chunk"},
                                     {"attn_temperature_len", "temperature_len"},
                                     {"xai_temperature_len", "temperature_len"},
                                     {"sm_scale", "scale"},
                                     {"softmax_scale", "scale"},
                                     {"scaling", "scale"},
                                     {"alibi_slopes", "alibi"},
                                     {"is_causal", "causal"},
                                     {"block_size", "page_size"},
                                     {"kv_cache_dtype", "dtype"},
                                     {"kv_cache_layout", "layout"},
                                     {"num_attention_heads", "heads_q"},
                                     {"num_qo_heads", "heads_q"},
                                     {"num_heads", "heads_q"},
                                     {"num_key_value_heads", "heads_kv"},
                                     {"num_kv_heads", "heads_kv"},
                                     {"head_size", "head_dim"},
                                     {"v_head_dim", "head_dim_v"},
                                     {"tp_size", "tp"},
                                     {"tensor_parallel_size", "tp"},
                                     {"query_len", "q_len"},
                                     {"seqlen_q", "q_len"},
                                     {"seqlen_k", "kv_len"},
                                     {"batch_size", "count"},
                                     {"prefill", "extend"},
                                     {"fp8", "e4m3"},
                                     {"fp8_e4m3", "e4m3"},
                                     {"float8_e4m3fn", "e4m3"},
                                     {"fp8_e5m2", "e5m2"},
                                     {"float8_e5m2", "e5m2"},
                                     {"bfloat16", "bf16"},
                                     {"float16", "f16"},
                                     {"fp16", "f16"},
                                     {"half", "f16"},
                                     {"float32", "f32"},
                                     {"fp32", "f32"},
                                     {"float", "f32"},
                                     {"a100", "sm80"},
                                     {"h100", "sm90"},
                                     {"h200", "sm90"},
                                     {"b200", "sm100"},
                                     {"gb200", "sm100"}};

bool same_but_for_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// What a section is called in messages.
std::string_view spoken(std::string_view section) {
  if (section == "scenario") return "the top level";
  if (section == "mix") return "a mix";
  if (section == "entry") return "a batch entry";
  if (section == "prefix") return "a prefix";
  return section;
}

template <class Word>
std::string hint_for(std::span<const Word> words, std::string_view found,
                     std::string_view introduction) {
  const auto meant = std::ranges::find_if(words, [&](std::string_view word) {
    return same_but_for_case(word, found) || word == own_word(found);
  });
  const std::string likely =
      meant != words.end() ? fmt::format("'{}'", *meant) : likely_names(found, words);
  const std::string question = likely.empty() ? "" : fmt::format("did you mean {}?   ", likely);
  return fmt::format("{}{}{}", question, introduction, fmt::join(words, " "));
}

}  // namespace

const ScenarioKey* KeySection::find(std::string_view key) const {
  const auto found = std::ranges::find(keys, key, &ScenarioKey::name);
  return found == keys.end() ? nullptr : &*found;
}

std::span<const KeySection> key_sections() { return kSections; }

const KeySection& key_section(std::string_view name, std::span<const KeySection> language) {
  const auto found = std::ranges::find(language, name, &KeySection::name);
  expects(found != language.end(), "a section that its language does not have");
  return *found;
}

std::string_view own_word(std::string_view found) {
  const auto* const known = std::ranges::find_if(
      kUsualNames, [&](const UsualName& name) { return same_but_for_case(name.usual, found); });
  return known == std::end(kUsualNames) ? found : known->own;
}

std::string allowed_keys_hint(const KeySection& section, std::string_view found,
                              std::span<const KeySection> language) {
  std::vector<std::string_view> names;
  for (const ScenarioKey& key : section.keys) names.push_back(key.name);
  // YAML reads "batch:8q1s4k" as one word.
  const std::size_t colon = found.find(':');
  if (colon != std::string_view::npos && section.find(found.substr(0, colon)) != nullptr) {
    return fmt::format("a space is missing behind the colon: '{}: {}'", found.substr(0, colon),
                       found.substr(colon + 1));
  }
  if (section.name == "sweep" && likely_names(found, names).empty()) {
    const std::string_view quote = found.find('[') == std::string_view::npos ? "" : "\"";
    return fmt::format("paths stand inside grid or zip: sweep: {{grid: {{{0}{1}{0}: [...]}}}}",
                       quote, found);
  }
  // The right key in the wrong map: more likely than a misspelt other one.
  const auto homes_of = [&](std::string_view key) {
    std::vector<std::string_view> homes;
    for (const KeySection& other : language) {
      if (other.find(key) != nullptr) homes.push_back(spoken(other.name));
    }
    return homes;
  };
  std::vector<std::string_view> homes = homes_of(found);
  std::string_view key = found;
  if (homes.empty() && section.find(own_word(found)) == nullptr) {
    key = own_word(found);
    homes = homes_of(key);
  }
  if (!homes.empty()) {
    return fmt::format("'{}' belongs in {}   allowed here: {}", key, fmt::join(homes, " or "),
                       fmt::join(names, " "));
  }
  return allowed_words_hint(std::span<const std::string_view>(names), found);
}

std::string allowed_words_hint(std::span<const std::string_view> words, std::string_view found,
                               std::string_view introduction) {
  return hint_for(words, found, introduction);
}

std::string allowed_words_hint(std::span<const std::string> words, std::string_view found,
                               std::string_view introduction) {
  return hint_for(words, found, introduction);
}

}  // namespace attnbench
