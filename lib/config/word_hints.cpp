// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/word_hints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "lib/base/error.h"

namespace attnbench {
namespace {

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

std::string_view own_word(std::string_view found) {
  const auto* const known = std::ranges::find_if(
      kUsualNames, [&](const UsualName& name) { return same_but_for_case(name.usual, found); });
  return known == std::end(kUsualNames) ? found : known->own;
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
