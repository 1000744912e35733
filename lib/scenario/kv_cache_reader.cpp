// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "lib/batch/fp8_activations.h"
#include "lib/config/problems.h"
#include "lib/config/scenario_keys.h"
#include "lib/config/value_reader.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {
namespace {

constexpr std::array<std::string_view, 2> kFp8Types{"e4m3", "e5m2"};
constexpr std::array<DType, 2> kFp8TypeOf{DType::kE4M3, DType::kE5M2};
constexpr std::array kQScalesKinds{QScales::kTensor, QScales::kHead, QScales::kToken,
                                   QScales::kRequest};
constexpr std::array kQScalesWords{to_string(kQScalesKinds[0]), to_string(kQScalesKinds[1]),
                                   to_string(kQScalesKinds[2]), to_string(kQScalesKinds[3])};

/// The keys of one of the two tensors.
struct Fp8Keys {
  std::string_view dtype, scale, what;
};
constexpr Fp8Keys kQueryKeys{"q_dtype", "q_scale", "queries"};
constexpr Fp8Keys kOutputKeys{"out_dtype", "out_scale", "outputs"};

/// Null where the map has no such key, or nothing under it.
const YamlNode* value_of(const YamlNode& map, std::string_view key) {
  const YamlEntry* entry = map.is_map() ? map.find(key) : nullptr;
  return entry == nullptr || entry->value->kind == YamlNode::Kind::kNull ? nullptr
                                                                         : entry->value.get();
}

bool read_tensor(const YamlNode& map, const Fp8Keys& keys, DType activations,
                 std::optional<DType>& dtype, float& scale, Problems& problems) {
  const YamlNode* const word = value_of(map, keys.dtype);
  const YamlNode* const factor = value_of(map, keys.scale);
  if (word != nullptr) {
    if (word->is_scalar() && (word->text == "f32" || word->text == "f16" || word->text == "bf16")) {
      problems.add(word->place,
                   fmt::format("{} {}: it says that {} are in fp8, others are of `dtype`",
                               keys.dtype, word->text, keys.what),
                   "e4m3 or e5m2; or leave it out");
      return false;
    }
    const auto choice = read_choice(*word, keys.dtype, kFp8Types, problems);
    if (!choice) return false;
    dtype = kFp8TypeOf[*choice];
  }
  if (factor == nullptr) return true;
  if (!dtype) {
    problems.add(factor->place,
                 fmt::format("{} without {}: {} in {} have no scale", keys.scale, keys.dtype,
                             keys.what, to_string(activations)),
                 fmt::format("for example {}: e4m3, or leave {} out", keys.dtype, keys.scale));
    return false;
  }
  const auto value = read_factor(*factor, keys.scale, problems);
  if (value) scale = static_cast<float>(*value);
  return value.has_value();
}

bool read_q_scales(const YamlNode& map, Fp8Settings& to, Problems& problems) {
  const YamlNode* const word = value_of(map, "q_scales");
  if (word == nullptr) return true;
  const auto choice = read_choice(*word, "q_scales", kQScalesWords, problems);
  if (!choice) return false;
  to.types.q_scales = kQScalesKinds[*choice];
  if (to.types.q_scales == QScales::kTensor) return true;
  const YamlNode* const scale = value_of(map, "q_scale");
  if (scale != nullptr) {
    problems.add(scale->place,
                 fmt::format("q_scale is the scale of a whole tensor, and q_scales: {} has its own",
                             to_string(to.types.q_scales)),
                 "leave q_scale out, or q_scales");
  } else if (!to.types.q) {
    problems.add(word->place, "q_scales without q_dtype: only queries in fp8 have scales",
                 "for example q_dtype: e4m3, or leave q_scales out");
  } else {
    return true;
  }
  return false;
}

}  // namespace

std::optional<Fp8Settings> read_fp8(const YamlNode* attention, DType activations,
                                    Problems& problems) {
  Fp8Settings to;
  if (attention == nullptr) return to;
  bool valid = read_tensor(*attention, kQueryKeys, activations, to.types.q, to.q_scale, problems);
  valid = valid && read_q_scales(*attention, to, problems);
  valid = read_tensor(*attention, kOutputKeys, activations, to.types.out, to.out_scale, problems) &&
          valid;
  return valid ? std::optional(to) : std::nullopt;
}

namespace {

constexpr std::array<std::string_view, 5> kDTypes{"f32", "f16", "bf16", "e4m3", "e5m2"};
constexpr std::array<DType, 5> kDTypeOf{DType::kF32, DType::kF16, DType::kBF16, DType::kE4M3,
                                        DType::kE5M2};
constexpr std::array<std::string_view, 5> kLayouts{"NHD", "HND", "combined", "x_packed", "ragged"};
constexpr std::array<KvLayout, 5> kLayoutOf{KvLayout::kNhd, KvLayout::kHnd, KvLayout::kCombined,
                                            KvLayout::kXPacked, KvLayout::kRagged};
constexpr std::array<std::string_view, 5> kScales{"tensor", "head", "token", "block", "request"};
constexpr std::array<KvScales, 5> kScalesOf{KvScales::kTensor, KvScales::kHead, KvScales::kToken,
                                            KvScales::kBlock, KvScales::kRequest};
constexpr std::array<std::string_view, 5> kPlacements{"contiguous", "shuffled", "interleaved",
                                                      "fragmented", "reversed"};
constexpr std::array<Placement, 5> kPlacementOf{Placement::kContiguous, Placement::kShuffled,
                                                Placement::kInterleaved, Placement::kFragmented,
                                                Placement::kReversed};

bool read_scales(const StrictMap& map, const AttentionLayer& layer, KvCacheConfig& cache,
                 Problems& problems) {
  bool valid = true;
  for (const auto& [key, scale] :
       {std::pair{"k_scale", &cache.k_scale}, {"v_scale", &cache.v_scale}}) {
    const YamlNode* node = map.find(key);
    if (node == nullptr) continue;
    if (cache.scales != KvScales::kTensor) {
      problems.add(map.place_of(key),
                   fmt::format("{} is the scale of a whole tensor, and scales: {} has its own", key,
                               to_string(cache.scales)),
                   fmt::format("leave {} out, or scales", key));
      valid = false;
      continue;
    }
    const auto value = read_factor(*node, key, problems);
    if (value) *scale = static_cast<float>(*value);
    valid = valid && value;
  }
  if (!valid || !layer.shares_row_of_k_and_v()) return valid;
  if (!map.has("v_scale")) cache.v_scale = cache.k_scale;
  if (cache.v_scale == cache.k_scale) return true;
  problems.add(map.place_of("v_scale"),
               fmt::format("v_scale {} differs from k_scale {} on an MLA layer", cache.v_scale,
                           cache.k_scale),
               "MLA keeps one row for K and V: leave v_scale out");
  return false;
}

/// What only a pool has.
constexpr std::string_view kOfPools[] = {"page_size", "placement", "pool_tokens", "swa_pool"};

/// The layout where none is asked for. An up-projection leaves the keys of expanded MLA one behind
/// the other; pages, or scales that only a pool's rows have, ask for a pool instead.
std::optional<KvLayout> usual_layout(const StrictMap* map, MlaForm mla) {
  if (mla != MlaForm::kExpanded) return std::nullopt;
  if (map == nullptr) return KvLayout::kRagged;
  const bool pool = map->has("scales") || std::ranges::any_of(kOfPools, [&](std::string_view key) {
                      return map->has(key);
                    });
  return pool ? std::nullopt : std::optional(KvLayout::kRagged);
}

/// Ragged keys have neither pages nor a pool.
bool check_ragged(const StrictMap& map, const KvCacheConfig& cache, Problems& problems) {
  if (!cache.is_ragged()) return true;
  bool valid = true;
  for (const std::string_view key : kOfPools) {
    if (!map.has(key)) continue;
    problems.add(map.place_of(key), fmt::format("{} beside layout: ragged", key),
                 fmt::format("ragged keys lie one behind the other, request after request, without "
                             "a pool: leave it out; {}: none takes back what defaults say",
                             key));
    valid = false;
  }
  return valid;
}

/// Whether the layer's cache can have the scales and the layout that are asked for.
bool is_possible(const StrictMap& map, const AttentionLayer& layer, const KvCacheConfig& cache,
                 Problems& problems) {
  const CacheFormat format{cache.dtype, cache.layout.value_or(KvLayout::kNhd), cache.page_size,
                           cache.scales};
  bool possible = true;
  const auto refuse = [&](std::string_view key, std::string_view word, const std::string& reason,
                          std::string hint) {
    if (reason.empty()) return;
    problems.add(map.place_of(key), fmt::format("{} {}: {}", key, word, reason), std::move(hint));
    possible = false;
  };
  refuse("scales", to_string(format.scales), scales_refusal(layer, format),
         layer.family == Family::kLatent
             ? "an e4m3 cache of MLA takes tensor, head, token, block or request"
             : "an fp8 cache takes tensor, head, token or request");
  refuse("layout", to_string(format.layout), layout_refusal(layer, format),
         "NHD and HND are always possible; without a layout each backend gets what it reads best");
  return possible;
}

}  // namespace

std::optional<DType> read_activation_dtype(const StrictMap& mix, Problems& problems) {
  const YamlNode* node = mix.find("dtype");
  if (node == nullptr) return DType::kBF16;
  const std::string_view word = own_word(node->text);
  if (node->is_scalar() && (word == "e4m3" || word == "e5m2")) {
    problems.add(node->place, fmt::format("dtype {}: activations are f32, f16 or bf16", node->text),
                 fmt::format("fp8 is for the cache, kv_cache: {{dtype: {0}}}, and for attention: "
                             "{{q_dtype: {0}, out_dtype: {0}}}",
                             word));
    return std::nullopt;
  }
  const auto choice =
      read_choice(*node, "dtype", std::span<const std::string_view>(kDTypes).first(3), problems);
  return choice ? std::optional(kDTypeOf[*choice]) : std::nullopt;
}

std::optional<KvCacheConfig> read_kv_cache(const YamlNode* node, DType activations,
                                           const AttentionLayer& layer, MlaForm mla,
                                           Problems& problems) {
  KvCacheConfig cache;
  cache.dtype = activations;
  if (node == nullptr) {
    cache.layout = usual_layout(nullptr, mla);
    return cache;
  }
  if (layer.is_recurrent()) {
    problems.add(node->place, "kv_cache on a linear layer",
                 "a gated delta net has no KV cache, but one state of f32 per request: leave "
                 "kv_cache out; kv_cache: none takes back what defaults say");
    return std::nullopt;
  }
  const StrictMap map(*node, "kv_cache", "kv_cache", problems);
  bool valid = map.sound();
  if (const YamlNode* page = map.find("page_size")) {
    const auto size = read_size(*page, "page_size", 1, kMaxSize, problems);
    valid = valid && size;
    cache.page_size = size.value_or(1);
  }
  const auto choose = [&](std::string_view key, std::span<const std::string_view> words) {
    const YamlNode* word = map.find(key);
    if (word == nullptr) return std::optional<std::size_t>();
    const auto choice = read_choice(*word, key, words, problems);
    valid = valid && choice;
    return choice;
  };
  if (const auto choice = choose("layout", kLayouts)) {
    cache.layout = kLayoutOf[*choice];
  } else if (!map.has("layout")) {
    cache.layout = usual_layout(&map, mla);
  }
  if (const auto choice = choose("dtype", kDTypes)) cache.dtype = kDTypeOf[*choice];
  if (const auto choice = choose("placement", kPlacements)) cache.placement = kPlacementOf[*choice];
  if (const auto choice = choose("scales", kScales)) cache.scales = kScalesOf[*choice];
  if (const YamlNode* swa_pool = map.find("swa_pool")) {
    const auto value = read_bool(*swa_pool, "swa_pool", problems);
    valid = valid && value;
    cache.swa_pool = value.value_or(false);
  }
  valid = check_ragged(map, cache, problems) && valid;
  valid = valid && is_possible(map, layer, cache, problems);
  valid = read_scales(map, layer, cache, problems) && valid;
  if (const YamlNode* pool = map.find("pool_tokens")) {
    const auto tokens = read_size(*pool, "pool_tokens", 1, kMaxSize, problems);
    valid = valid && tokens;
    cache.pool_tokens = tokens.value_or(0);
    if (valid && cache.pool_tokens % cache.page_size != 0) {
      problems.add(pool->place,
                   fmt::format("pool_tokens {} is not a whole number of pages of {}",
                               cache.pool_tokens, cache.page_size),
                   fmt::format("the nearest above is {}",
                               (cache.pool_tokens / cache.page_size + 1) * cache.page_size));
      valid = false;
    }
  }
  return valid ? std::optional(cache) : std::nullopt;
}

}  // namespace attnbench
