// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/case_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/batch_builder.h"
#include "lib/scenario/batch_reader.h"
#include "lib/scenario/case.h"
#include "lib/scenario/case_checks.h"
#include "lib/scenario/language.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {
namespace {

LayerKeys keys_of(const LayerChoice& choice) {
  if (choice.kind == LayerKind::kCross) {
    return {LayerKeys::Source::kBesideDecoder, choice.geometry.encoder_len};
  }
  return {
      choice.layer.is_cross_attention ? LayerKeys::Source::kEncoder : LayerKeys::Source::kRequest,
      0};
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
    constexpr std::string_view kSwitches[] = {"window", "chunk", "dual_chunk", "softcap",
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
  auto cache = read_kv_cache(mix.find("kv_cache"), dtype.value_or(DType::kBF16), layer,
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
                  cache ? cache->page_size : 1, result.seed, problems);
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
