// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/case_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/batch_builder.h"
#include "lib/scenario/batch_reader.h"
#include "lib/scenario/captured_lists.h"
#include "lib/scenario/case.h"
#include "lib/scenario/fill.h"
#include "lib/scenario/language.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {
namespace {

/// More than the largest batch that an engine records a graph for, and than the tokens to which
/// SGLang and vLLM fill a step up (max_prefill_tokens and max_num_batched_tokens are 16384).
constexpr std::int64_t kMostPadding = 1 << 16;

LayerKeys keys_of(const LayerChoice& choice) {
  if (choice.kind == LayerKind::kCross) {
    return {LayerKeys::Source::kBesideDecoder, choice.geometry.encoder_len};
  }
  return {
      choice.layer.is_cross_attention ? LayerKeys::Source::kEncoder : LayerKeys::Source::kRequest,
      0};
}

/// Reads `padding` of a mix, which may be null: a number of requests, or a map that also says which
/// length they have, and how many rows of query tokens belong to no request.
std::optional<BatchPadding> read_padding(const YamlNode* node, Problems& problems) {
  BatchPadding padding;
  if (node == nullptr) return padding;
  if (node->is_scalar()) {
    const auto requests = read_size(*node, "padding", 0, kMostPadding, problems);
    if (!requests) return std::nullopt;
    padding.requests = *requests;
    return padding;
  }
  const ScenarioMap map(*node, "padding", "padding", problems);
  if (!map.sound()) return std::nullopt;
  if (!map.has("requests") && !map.has("tokens")) {
    problems.add(node->place, "padding has neither requests nor tokens",
                 "for example padding: {requests: 3, seq_len: 0}, padding: {tokens: 8}, or "
                 "padding: 3");
    return std::nullopt;
  }
  if (!map.has("requests") && map.has("seq_len")) {
    problems.add(map.find("seq_len")->place, "padding has a seq_len, but no requests",
                 "tokens alone belong to no request, and have no length: add requests, or leave "
                 "seq_len out");
    return std::nullopt;
  }
  return read_rows(map, padding, problems) ? std::optional(padding) : std::nullopt;
}

/// A tensor in fp8 and the scale of all of it.
struct ScaledTensor {
  const char* map;  ///< of the mix, which has the scale as `key`
  const char* key;
  DType dtype;
  float scale;
  double largest;  ///< magnitude before the scale
};

/// A scale must leave the tensor's values numbers: larger ones would all be the type's largest,
/// smaller ones 0.
bool check_scale(const ScaledTensor& tensor, const StrictMap& mix, Problems& problems) {
  const auto most = static_cast<double>(largest_finite(tensor.dtype));
  const double least = tensor.dtype == DType::kE4M3 ? 0x1p-6 : 0x1p-14;  // smallest normal numbers
  const double stored = tensor.largest / static_cast<double>(tensor.scale);
  if (stored >= least && stored <= most) return true;
  problems.add(
      place_in(mix, tensor.map, tensor.key),
      fmt::format("{} {:.4g} makes values up to {:.4g}, {} {} holds", tensor.key, tensor.scale,
                  stored, stored > most ? "more than" : "less than a normal number that",
                  to_string(tensor.dtype)),
      fmt::format("from {:.2g} to {:.2g}: stored values are the tensor's divided by it",
                  1.05 * tensor.largest / most, 0.95 * tensor.largest / least));
  return false;
}

/// Of the scales of a whole fp8 cache, those that are asked for.
bool check_fp8_cache_range(const Case& c, const StrictMap& mix, Problems& problems) {
  const ContentRange range = content_range(c);
  const YamlNode* cache = mix.find("kv_cache");
  for (const auto& [key, scale, largest] : {std::tuple{"k_scale", c.kv_cache.k_scale, range.k},
                                            {"v_scale", c.kv_cache.v_scale, range.v}}) {
    if (cache == nullptr || cache->find(key) == nullptr) continue;
    const ScaledTensor tensor{"kv_cache", key, c.kv_cache.dtype, scale, largest};
    if (!check_scale(tensor, mix, problems)) return false;
  }
  return true;
}

/// The cache must hold the fixture's values as numbers. fp8 saturates, all others overflow.
bool check_range(const Case& c, const StrictMap& mix, Problems& problems) {
  if (c.layer.is_recurrent()) return true;  // keys are normalised, and there is no cache
  const DType dtype = c.kv_cache.dtype;
  if (size_bytes(dtype) == 1) return check_fp8_cache_range(c, mix, problems);
  const ContentRange range = content_range(c);
  for (const auto& [key, scale, largest] : {std::tuple{"k_scale", c.kv_cache.k_scale, range.k},
                                            {"v_scale", c.kv_cache.v_scale, range.v}}) {
    const double stored = largest / static_cast<double>(scale);
    if (std::isfinite(rounded(dtype, static_cast<float>(stored)))) continue;
    const YamlNode* cache = mix.find("kv_cache");
    const bool given = cache != nullptr && cache->find(key) != nullptr;
    problems.add(
        given ? place_in(mix, "kv_cache", key) : place_in(mix, "attention", "scale"),
        fmt::format("{} {:.4g} makes values up to {:.4g}, more than {} holds",
                    given ? key : "scale", given ? static_cast<double>(scale) : c.layer.scale,
                    stored, to_string(dtype)),
        given ? "stored values are the tensor's divided by it"
              : "keys are made large enough to set one apart from the others");
    return false;
  }
  return true;
}

/// Queries in fp8 must stay numbers, and so must outputs of random data. Planted outputs may be
/// larger than the type's largest number, which they become.
bool check_fp8_range(const Case& c, const StrictMap& mix, Problems& problems) {
  constexpr double kLargestQuery = 4.5;  // a normal number, 3.47 at most, beside a direction of 1
  if (c.fp8.q &&
      !check_scale({"attention", "q_scale", *c.fp8.q, c.q_scale, kLargestQuery}, mix, problems)) {
    return false;
  }
  if (!c.fp8.out) return true;
  // Outputs are means of values. One number of a token's row, or of a block, is the largest that
  // the cache's type holds (RowScale), up to 3.75 times the largest otherwise.
  const bool peaks = c.kv_cache.scales == KvScales::kToken || are_of_blocks(c.kv_cache.scales);
  const double largest_output = kLargestNormal * (peaks ? 4 : 1.125);
  return check_scale({"attention", "out_scale", *c.fp8.out, c.out_scale, largest_output}, mix,
                     problems);
}

}  // namespace

YamlPtr with_defaults(const YamlPtr& mix, const YamlNode* defaults) {
  if (defaults == nullptr || !defaults->is_map() || !mix->is_map()) return mix;
  auto result = std::make_shared<YamlNode>(*mix);
  // One layer of a mix's own takes the place of all the kinds of the defaults, and they of one.
  const bool chooses_layers = mix->find("layer") != nullptr || mix->find("layers") != nullptr;
  for (const YamlEntry& entry : defaults->entries) {
    const YamlEntry* own = mix->find(entry.key);
    const bool is_choice = entry.key == "layer" || entry.key == "layers";
    if (own == nullptr && is_choice && chooses_layers) continue;
    if (own == nullptr) {
      result->entries.push_back(entry);
    } else if (entry.key == "kv_cache" || entry.key == "attention") {
      const YamlPtr merged = with_defaults(own->value, entry.value.get());
      for (YamlEntry& target : result->entries) {
        if (target.key == entry.key) target.value = merged;
      }
    }
  }
  return result;
}

YamlPtr drop_none_overrides(const YamlPtr& mix) {
  if (!mix->is_map()) return mix;
  const auto is_none = [](const YamlEntry& entry) {
    return entry.value->is_scalar() && entry.value->text == "none";
  };
  const auto is_switched_off = [](const YamlEntry& entry) {
    constexpr std::string_view kSwitches[] = {"window",         "chunk",     "dual_chunk",
                                              "compress_ratio", "selection", "softcap",
                                              "temperature_len"};
    return std::ranges::find(kSwitches, entry.key) != std::end(kSwitches);
  };
  auto result = std::make_shared<YamlNode>(*mix);
  std::erase_if(result->entries, [&](const YamlEntry& entry) {
    return is_none(entry) && (entry.key == "kv_cache" || entry.key == "attention");
  });
  for (YamlEntry& entry : result->entries) {
    if ((entry.key != "kv_cache" && entry.key != "attention") || !entry.value->is_map()) continue;
    auto map = std::make_shared<YamlNode>(*entry.value);
    std::erase_if(map->entries, [&](const YamlEntry& each) {
      return is_none(each) && (entry.key == "kv_cache" || !is_switched_off(each));
    });
    entry.value = map;
  }
  return result;
}

std::uint64_t mix_seed(std::uint64_t scenario_seed, const std::string& mix_name) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, 64 bits (Fowler, Noll, Vo)
  for (const char c : mix_name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return combine(scenario_seed, hash);
}

KeySection padding_section() {
  return {"padding",
          "padding",
          "mixes.NAME.padding",
          {{"requests", whole(&BatchPadding::requests, 0, kMostPadding),
            "How many requests; required without `tokens`."},
           {"seq_len", whole(&BatchPadding::seq_len, 0, 1),
            "Keys that each claims to have: 1 in today's engines, 0 in earlier ones."},
           {"tokens", whole(&BatchPadding::tokens, 0, kMostPadding),
            "Rows of query tokens behind all requests that belong to none."}}};
}

std::optional<Case> read_case(const YamlNode& mix_node, const std::string& mix_name,
                              const Place& mix_place, const std::string& id,
                              const ScenarioContext& scenario, Problems& problems) {
  const ScenarioMap mix(mix_node, "mix", fmt::format("mix '{}'", mix_name), problems);
  if (!mix.node().is_map()) return std::nullopt;
  Case result;
  result.id = id;
  result.mix = mix_name;
  result.scenario = scenario.name;
  result.seed = mix_seed(scenario.seed, mix_name);

  const auto choice = read_layer(mix, mix_name, mix_place, problems);
  const auto dtype = read_activation_dtype(mix, problems);
  const auto fp8 = read_fp8(mix.find("attention"), dtype.value_or(DType::kBF16), problems);
  // Further mistakes show even if the layer is unknown: a plain layer stands in for it.
  const AttentionLayer layer = choice ? choice->layer : AttentionLayer{};
  const KvScales ds_mla = ds_mla_scales(choice ? choice->geometry : ModelGeometry{});
  auto cache = read_kv_cache(mix.find("kv_cache"), dtype.value_or(DType::kBF16), ds_mla, layer,
                             choice ? choice->mla : MlaForm::kAbsorbed, problems);

  const YamlNode* batch_node = mix.find("batch");
  if (batch_node == nullptr) {
    if (!mix.sound()) return std::nullopt;
    problems.add(mix_place, fmt::format("mix '{}' has no batch", mix_name),
                 "for example batch: [{count: 8, mode: decode, kv_len: 4k}] or batch: 8q1s4k");
    return std::nullopt;
  }
  const BatchEntries entries = read_batch(*batch_node, scenario.prefixes, problems);
  const auto padding = read_padding(mix.find("padding"), problems);
  auto batch =
      build_batch(entries.entries, batch_node->place, choice ? keys_of(*choice) : LayerKeys{},
                  cache ? cache->manager_page() : 1, result.seed, problems);
  if (!batch || !cache || !choice || !dtype || !fp8 || !padding || !entries.all_valid) {
    return std::nullopt;
  }
  const StepParts parts{mix, batch_node->place, entries, *batch, *choice, *padding, *cache};
  if (!check_step(parts, problems)) return std::nullopt;

  result.model = choice->model;
  result.model_note = choice->note;
  result.geometry = choice->geometry;
  result.tp = choice->tp;
  result.layer = layer;
  result.dtype = *dtype;
  result.kv_cache = *cache;
  if (cache->is_ragged()) result.kv_cache.placement = Placement::kContiguous;
  result.mode = batch->mode;
  result.layer.causal_block = batch->causal_block;
  result.prefixes = std::move(batch->prefixes);
  result.requests = std::move(batch->requests);
  result.padding = *padding;
  result.draft_topk = batch->draft_topk;
  result.fp8 = fp8->types;
  result.q_scale = fp8->q_scale;
  result.out_scale = fp8->out_scale;
  if (layer.selection.goes_by_pages()) {
    // In tokens: a page of compressed rows stands for more of them.
    result.layer.selection.page_size =
        cache->page_size * (layer.selection.compressed ? layer.compress_ratio : 1);
  }
  if (!read_captured_lists(mix, result, problems)) return std::nullopt;
  if (!check_range(result, mix, problems) || !check_fp8_range(result, mix, problems)) {
    return std::nullopt;
  }
  if (choice->mla == MlaForm::kComposed) {
    result.parts = composed_parts(result, choice->expanded);
    if (!check_range(result.parts.front(), mix, problems)) return std::nullopt;
  }
  return result;
}

}  // namespace attnbench
