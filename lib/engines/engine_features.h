// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/engines/engine_setup.h"

namespace attnbench {

/// What a model, its cache or a step may ask of an attention backend of an engine. Each bit is one.
enum class EngineFeature : std::uint32_t {
  kE4m3Cache = 1u << 0,
  kE5m2Cache = 1u << 1,
  kHeadScales = 1u << 2,     ///< of KV heads, of an fp8 cache or of queries
  kTokenScales = 1u << 3,    ///< of a cache: vLLM's fp8_per_token_head
  kBlockScales = 1u << 4,    ///< fp8_ds_mla
  kRequestScales = 1u << 5,  ///< of caches and of queries
  kXPacked = 1u << 6,
  kFp8Queries = 1u << 7,  ///< in the type of an fp8 cache
  kFp8Output = 1u << 8,
  kSinks = 1u << 9,
  kWindow = 1u << 10,
  kCross = 1u << 11,
  kSoftcap = 1u << 12,
  kAlibi = 1u << 13,
  kTemperature = 1u << 14,
  kChunks = 1u << 15,
  kDualChunks = 1u << 16,
  kItems = 1u << 17,
  kBlockDiffusion = 1u << 18,
  kNonCausal = 1u << 19,         ///< keys in a pool, seen ahead
  kEncoderOnly = 1u << 20,       ///< keys without a pool, seen ahead
  kRagged = 1u << 21,            ///< keys without a pool, causal
  kInvariance = 1u << 22,        ///< SGLang's deterministic inference, vLLM's batch invariance
  kTokenQueryScales = 1u << 23,  ///< QScales::kToken
  kSpans = 1u << 24,             ///< bidirectional spans of prompts (vLLM: mm_prefix)
  kChosenKeys = 1u << 26,        ///< lists that another kernel chose, other than DSA's
  kDcp = 1u << 25,               ///< decode context parallelism: ranks share a request's keys
};

/// A set of features.
class EngineFeatures {
 public:
  constexpr EngineFeatures() = default;
  constexpr EngineFeatures(std::initializer_list<EngineFeature> features) {
    for (const EngineFeature each : features) bits_ |= static_cast<std::uint32_t>(each);
  }

  [[nodiscard]] constexpr bool has(EngineFeature feature) const {
    return (bits_ & static_cast<std::uint32_t>(feature)) != 0;
  }
  /// Those of this set that are not in the other.
  [[nodiscard]] constexpr EngineFeatures without(EngineFeatures other) const {
    EngineFeatures rest;
    rest.bits_ = bits_ & ~other.bits_;
    return rest;
  }
  /// Those that are in the other, too.
  [[nodiscard]] constexpr EngineFeatures within(EngineFeatures other) const {
    EngineFeatures shared;
    shared.bits_ = bits_ & other.bits_;
    return shared;
  }
  /// Those of either.
  [[nodiscard]] constexpr EngineFeatures with(EngineFeatures other) const {
    EngineFeatures all;
    all.bits_ = bits_ | other.bits_;
    return all;
  }

 private:
  std::uint32_t bits_ = 0;
};

/// What a setup asks for.
[[nodiscard]] EngineFeatures features_of(const EngineSetup& setup);

/// The words of a set, in a fixed order: {"sinks", "ALiBi"}; "fp8 cache" for both of its types.
[[nodiscard]] std::vector<std::string_view> words_of(EngineFeatures features);

/// The feature of this word; none where no feature has it.
[[nodiscard]] std::optional<EngineFeature> find_engine_feature(std::string_view word);

}  // namespace attnbench
