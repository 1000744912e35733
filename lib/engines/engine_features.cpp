// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_features.h"

#include <algorithm>
#include <iterator>

namespace attnbench {
namespace {

using enum EngineFeature;

struct FeatureWord {
  EngineFeature feature;
  std::string_view word;
};

constexpr FeatureWord kWords[] = {{kE4m3Cache, "e4m3 cache"},
                                  {kE5m2Cache, "e5m2 cache"},
                                  {kHeadScales, "scales of KV heads"},
                                  {kTokenScales, "scales of tokens"},
                                  {kBlockScales, "rows of fp8_ds_mla"},
                                  {kRequestScales, "scales of requests"},
                                  {kXPacked, "x_packed cache"},
                                  {kFp8Queries, "queries in fp8"},
                                  {kTokenQueryScales, "scales of queries by token"},
                                  {kFp8Output, "output in fp8"},
                                  {kSinks, "sinks"},
                                  {kWindow, "sliding window"},
                                  {kCross, "cross attention"},
                                  {kSoftcap, "softcap"},
                                  {kAlibi, "ALiBi"},
                                  {kTemperature, "temperature"},
                                  {kChunks, "chunks"},
                                  {kDualChunks, "dual chunks"},
                                  {kItems, "multi-item scoring"},
                                  {kBlockDiffusion, "block diffusion"},
                                  {kNonCausal, "attention ahead over a cache"},
                                  {kEncoderOnly, "attention ahead without a cache"},
                                  {kRagged, "keys without a cache"},
                                  {kInvariance, "deterministic inference"},
                                  {kSpans, "bidirectional spans"},
                                  {kChosenKeys, "chosen keys"},
                                  {kDcp, "decode context parallelism"}};

/// The feature that a cache in fp8 asks for beside its type; a row of fp8_ds_mla has one of its
/// own.
EngineFeatures cache_features(const EngineSetup& s) {
  const EngineFeatures type{s.kv_dtype == DType::kE4M3 ? kE4m3Cache : kE5m2Cache};
  switch (s.kv_scales) {
    case KvScales::kHead:
      return type.with({kHeadScales});
    case KvScales::kToken:
      return type.with({kTokenScales});
    case KvScales::kBlock:
    case KvScales::kGroup:
      return {kBlockScales};
    case KvScales::kRequest:
      return type.with({kRequestScales});
    case KvScales::kTensor:
      break;
  }
  return type;
}

}  // namespace

EngineFeatures features_of(const EngineSetup& s) {
  EngineFeatures asked;
  const auto add = [&](bool wanted, EngineFeature feature) {
    if (wanted) asked = asked.with({feature});
  };
  if (s.has_fp8_cache()) asked = cache_features(s);
  const bool diffuses = s.mode == ForwardMode::kDllmExtend;
  add(s.is_x_packed, kXPacked);
  add(s.q_fp8.has_value(), kFp8Queries);
  add(s.q_scales == QScales::kHead, kHeadScales);
  add(s.q_scales == QScales::kRequest, kRequestScales);
  add(s.q_scales == QScales::kToken, kTokenQueryScales);
  add(s.has_fp8_output, kFp8Output);
  add(s.has_sinks, kSinks);
  add(s.has_window, kWindow);
  add(s.is_encoder_decoder, kCross);
  add(s.has_logit_cap, kSoftcap);
  add(s.has_alibi, kAlibi);
  add(s.has_temperature, kTemperature);
  add(s.has_chunks, kChunks);
  add(s.is_dual_chunk, kDualChunks);
  add(s.scores_items, kItems);
  add(diffuses, kBlockDiffusion);
  add(s.sees_ahead && !s.is_ragged, kNonCausal);
  add(s.sees_ahead && s.is_ragged, kEncoderOnly);
  add(s.is_ragged && !s.sees_ahead && !s.is_encoder_decoder, kRagged);
  add(s.is_deterministic, kInvariance);
  add(s.has_spans, kSpans);
  add(s.has_selection && s.sparse == SparseAttention::kNone, kChosenKeys);
  add(s.uses_dcp, kDcp);
  return asked;
}

std::vector<std::string_view> words_of(EngineFeatures features) {
  std::vector<std::string_view> words;
  const bool both = features.has(kE4m3Cache) && features.has(kE5m2Cache);
  if (both) words.push_back("fp8 cache");
  for (const FeatureWord& each : kWords) {
    const bool is_fp8 = each.feature == kE4m3Cache || each.feature == kE5m2Cache;
    if (features.has(each.feature) && !(both && is_fp8)) words.push_back(each.word);
  }
  return words;
}

std::optional<EngineFeature> find_engine_feature(std::string_view word) {
  const auto* found = std::ranges::find(kWords, word, &FeatureWord::word);
  return found == std::end(kWords) ? std::nullopt : std::optional(found->feature);
}

}  // namespace attnbench
