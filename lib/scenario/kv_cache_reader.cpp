// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/batch/token_to_kv_pool.h"
#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/config/word_hints.h"
#include "lib/scenario/language.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {
namespace {

constexpr std::array<std::string_view, 2> kFp8Words{"e4m3", "e5m2"};
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
    const auto choice = read_choice(*word, keys.dtype, kFp8Words, problems);
    if (!choice) return false;
    dtype = kFp8Types[*choice];
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

/// Only a whole tensor has the scales that are asked for.
bool check_scales(const StrictMap& map, const KvCacheConfig& cache, Problems& problems) {
  bool valid = true;
  for (const char* key : {"k_scale", "v_scale"}) {
    if (!map.has(key) || cache.scales == KvScales::kTensor) continue;
    problems.add(map.place_of(key),
                 fmt::format("{} is the scale of a whole tensor, and scales: {} has its own", key,
                             to_string(cache.scales)),
                 fmt::format("leave {} out, or scales", key));
    valid = false;
  }
  return valid;
}

/// A row of MLA's cache is key and value.
bool settle_v_scale(const StrictMap& map, const AttentionLayer& layer, KvCacheConfig& cache,
                    Problems& problems) {
  if (!layer.shares_row_of_k_and_v()) return true;
  if (!map.has("v_scale")) cache.v_scale = cache.k_scale;
  if (cache.v_scale == cache.k_scale) return true;
  problems.add(map.place_of("v_scale"),
               fmt::format("v_scale {} differs from k_scale {} on an MLA layer", cache.v_scale,
                           cache.k_scale),
               "MLA keeps one row for K and V: leave v_scale out");
  return false;
}

/// A `page_stride` that is no number of tokens.
struct PageStride {
  std::int64_t layers = 0;
  std::int64_t bytes = 0;
};

/// Bytes of a page of so many tokens, of keys and values.
std::int64_t page_bytes(const AttentionLayer& layer, const KvCacheConfig& cache,
                        std::int64_t tokens) {
  std::int64_t bytes = 0;
  const CacheFormat page{.dtype = cache.dtype, .page_size = tokens, .scales = cache.scales};
  for (const CacheBuffer& buffer : cache_buffers(pool_shape_of(layer, page, 1))) {
    if (!buffer.holds_scales) bytes += buffer.bytes();
  }
  return bytes;
}

constexpr const char* kPageStrideExample =
    "tokens, such as 20 for pages of 16; or {layers: 4}, whose pages take turns; or {bytes: 34816}";

/// Tokens from page to page; none after a mistake.
std::optional<std::int64_t> asked_page_stride(const YamlNode& node, const AttentionLayer& layer,
                                              const KvCacheConfig& cache, Problems& problems) {
  if (node.is_scalar()) return read_size(node, "page_stride", 1, kMaxSize, problems);
  const ScenarioMap map(node, "page_stride", "page_stride", problems);
  PageStride asked;
  if (!map.sound() || !read_rows(map, asked, problems)) return std::nullopt;
  if (map.has("layers") == map.has("bytes")) {
    problems.add(node.place, "page_stride takes a number of layers or of bytes",
                 kPageStrideExample);
    return std::nullopt;
  }
  if (map.has("layers")) return asked.layers * cache.page_size;
  const BlockRow row = block_row(cache.scales, layer.head_dim_v, layer.head_dim_qk);
  const std::int64_t token = row.exists() ? row.token_bytes() : page_bytes(layer, cache, 1);
  if (token == 0) return std::nullopt;  // of no layer, which is a mistake elsewhere
  std::int64_t tokens = asked.bytes / token;
  if (page_bytes(layer, cache, tokens) < asked.bytes) ++tokens;
  const std::int64_t bytes = page_bytes(layer, cache, tokens);
  if (bytes == asked.bytes) return tokens;
  const std::string padded =
      row.behind > 0 ? fmt::format(", pages are multiples of {} bytes", row.bytes) : std::string();
  problems.add(
      map.place_of("bytes"),
      fmt::format("page_stride of {} bytes is no whole number of tokens, of {} bytes each",
                  asked.bytes, token),
      fmt::format("rows of keys and values lie evenly{}; the nearest above is {}", padded, bytes));
  return std::nullopt;
}

bool read_page_stride(const StrictMap& map, const AttentionLayer& layer, KvCacheConfig& cache,
                      Problems& problems) {
  const YamlNode* const node = map.find("page_stride");
  if (node == nullptr) return true;
  const auto stride = asked_page_stride(*node, layer, cache, problems);
  if (!stride) return false;
  cache.page_stride = *stride;
  if (*stride >= cache.page_size && *stride <= kMaxSize) return true;
  problems.add(node->place,
               *stride < cache.page_size
                   ? fmt::format("page_stride of {} token{} is less than page_size {}", *stride,
                                 *stride == 1 ? "" : "s", cache.page_size)
                   : fmt::format("page_stride of {} tokens is more than {}", *stride, kMaxSize),
               kPageStrideExample);
  return false;
}

/// What only a pool has.
constexpr std::string_view kOfPools[] = {"page_size", "page_stride", "manager_page_size",
                                         "placement", "pool_tokens", "swa_pool"};

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

/// A type, or rows of e4m3 that bring their scales along.
std::vector<std::string_view> cache_words() {
  std::vector<std::string_view> words = words_of(kDTypes);
  words.emplace_back(kDsMlaRows);
  return words;
}

std::optional<DType> read_cache_dtype(const YamlNode& node, std::string_view key,
                                      Problems& problems) {
  const auto choice = read_choice(node, key, cache_words(), problems);
  if (!choice) return std::nullopt;
  return *choice < kDTypes.size() ? kDTypes[*choice] : DType::kE4M3;
}

bool names_ds_mla(const StrictMap& map) {
  const YamlNode* const word = map.find("dtype");
  return word != nullptr && word->is_scalar() && own_word(word->text) == kDsMlaRows;
}

/// `own`: the scales that such rows have in the model.
bool settle_ds_mla(const StrictMap& map, KvScales own, KvCacheConfig& cache, Problems& problems) {
  if (!names_ds_mla(map)) return true;
  if (map.has("scales") && cache.scales != own) {
    problems.add(map.place_of("scales"),
                 fmt::format("scales: {} beside dtype: {}, whose rows bring theirs along",
                             to_string(cache.scales), kDsMlaRows),
                 fmt::format("leave scales out; this model's are {}", to_string(own)));
    return false;
  }
  cache.scales = own;
  return true;
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
  const bool by_dtype = names_ds_mla(map);
  refuse(by_dtype ? "dtype" : "scales", by_dtype ? kDsMlaRows : to_string(format.scales),
         scales_refusal(layer, format),
         layer.family == Family::kLatent
             ? "an e4m3 cache of MLA takes scales: tensor, head, token, block, request or group"
             : "an fp8 cache takes scales: tensor, head, token or request");
  refuse("layout", to_string(format.layout), layout_refusal(layer, format),
         "NHD and HND are always possible; without a layout each backend gets what it reads best");
  return possible;
}

}  // namespace

KeySection kv_cache_section() {
  return {"kv_cache",
          "kv_cache",
          "mixes.NAME.kv_cache",
          {{"page_size", whole(&KvCacheConfig::page_size, 1), "Tokens of a page; any number."},
           {"page_stride", map_of("page_stride", "tokens, or a map"),
            "From the beginning of a page to that of the next: padding or pages of other layers "
            "lie between.",
            "page_size"},
           {"manager_page_size", whole(&KvCacheConfig::manager_page_size, 1),
            "Tokens that the memory manager hands out at once, whole pages in a row (vLLM's "
            "block of a hybrid model, over blocks of the kernel).",
            "page_size"},
           {"layout", word(&KvCacheConfig::layout, kCacheLayouts),
            "How rows lie in memory; `ragged` is keys and values without a pool.",
            "what each backend reads best; `ragged` for `mla: expanded` without pages"},
           {"dtype",
            value_of(&KvCacheConfig::dtype, list_of_words(cache_words()), "", read_cache_dtype),
            "The type of stored keys and values; `fp8_ds_mla`: e4m3 in rows that bring their "
            "scales along, `group` of DeepSeek-V4, else `block`.",
            "`dtype` of the mix"},
           {"scales", word(&KvCacheConfig::scales, kCacheScales),
            "What shares a scale of an fp8 cache: the tensor, a head, a token and head, a block of "
            "MLA's 656-byte rows, a request and head, or a group of DeepSeek-V4's 584-byte rows."},
           {"k_scale", factor(&KvCacheConfig::k_scale),
            "A stored K times this is the key, with `scales: tensor`."},
           {"v_scale", factor(&KvCacheConfig::v_scale), "The same for V.", "1; MLA: k_scale"},
           {"placement", word(&KvCacheConfig::placement, kPagePlacements),
            "Where the pages of requests lie: `interleaved` takes turns, `fragmented` has holes."},
           {"pool_tokens", whole(&KvCacheConfig::pool_tokens, 1),
            "Size of the pool in whole pages; it must hold the batch.", "what the batch needs"},
           {"swa_pool", flag(&KvCacheConfig::swa_pool),
            "Layers with a window or chunks have a pool of their own, which holds only the pages "
            "that these reach (SGLang's hybrid models)."}}};
}

KeySection page_stride_section() {
  return {"page_stride",
          "page_stride",
          "mixes.NAME.kv_cache.page_stride",
          {{"layers", whole(&PageStride::layers, 1),
            "Pages of so many layers take turns; this layer's is one of them.", "none"},
           {"bytes", bytes(&PageStride::bytes),
            "Keys and values together, without scales beside them (vLLM's page_size_bytes); a "
            "whole number of tokens.",
            "none"}},
          kPageStrideExample};
}

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
  const std::vector<std::string_view> words = words_of(std::span(kDTypes).first(3));
  const auto choice = read_choice(*node, "dtype", words, problems);
  return choice ? std::optional(kDTypes[*choice]) : std::nullopt;
}

std::optional<KvCacheConfig> read_kv_cache(const YamlNode* node, DType activations, KvScales ds_mla,
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
                 "a linear layer has no KV cache, but one state of f32 per request: leave "
                 "kv_cache out; kv_cache: none takes back what defaults say");
    return std::nullopt;
  }
  const ScenarioMap map(*node, "kv_cache", "kv_cache", problems);
  bool valid = read_rows(map, cache, problems) && map.sound();
  if (!map.has("layout")) cache.layout = usual_layout(&map, mla);
  valid = settle_ds_mla(map, ds_mla, cache, problems) && valid;
  valid = check_ragged(map, cache, problems) && valid;
  valid = valid && is_possible(map, layer, cache, problems);
  const auto is_whole = [&](const char* key, std::int64_t tokens, std::int64_t page) {
    if (tokens % page == 0) return true;
    problems.add(map.find(key)->place,
                 fmt::format("{} {} is not a whole number of pages of {}", key, tokens, page),
                 fmt::format("the nearest above is {}", (tokens / page + 1) * page));
    return false;
  };
  if (valid) {
    valid = read_page_stride(map, layer, cache, problems);
    valid = is_whole("manager_page_size", cache.manager_page(), cache.page_size) && valid;
  }
  valid = check_scales(map, cache, problems) && valid;
  valid = valid && settle_v_scale(map, layer, cache, problems) &&
          is_whole("pool_tokens", cache.pool_tokens, cache.manager_page());
  return valid ? std::optional(cache) : std::nullopt;
}

}  // namespace attnbench
