// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/layer_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>

#include "lib/config/value_reader.h"
#include "lib/config/word_hints.h"
#include "lib/model/model_geometry.h"

namespace attnbench {
namespace {

constexpr const char* kLayersForms =
    "layers: all, or how many of each kind: layers: {full: 12, sliding: 12}";

/// Layers of one kind, and where the file asks for them.
struct AskedLayers {
  LayerKind kind;
  int layers;
  Place place;
};

YamlPtr without_entry(const YamlNode& map, std::string_view key) {
  auto result = std::make_shared<YamlNode>(map);
  std::erase_if(result->entries, [&](const YamlEntry& entry) { return entry.key == key; });
  return result;
}

std::optional<std::vector<AskedLayers>> all_layers(const YamlNode& node, const ModelGeometry& model,
                                                   Problems& problems) {
  std::vector<AskedLayers> asked;
  for (const LayerKind kind : runnable_kinds(model)) {
    asked.push_back({kind, model.kinds[kind], node.place});
  }
  if (!asked.empty()) return asked;
  problems.add(
      node.place,
      fmt::format("{} has no layers that attnbench can run: {}", model.name, model.kinds.text()),
      model.kinds[LayerKind::kSparse] > 0
          ? fmt::format("layers: {{full: {}}} attends densely with its heads and dims",
                        model.layers)
          : "");
  return std::nullopt;
}

/// Whether the model has such layers, read_case() finds out.
std::optional<std::vector<AskedLayers>> counted_layers(const YamlNode& node, Problems& problems) {
  std::vector<AskedLayers> asked;
  bool valid = !node.entries.empty();
  if (!valid) problems.add(node.place, "layers is empty", kLayersForms);
  for (const YamlEntry& entry : node.entries) {
    const auto* const word = std::ranges::find(kLayerKindWords, entry.key);
    const auto count = read_size(*entry.value, entry.key, 1, kMaxLayers, problems);
    if (word == kLayerKindWords.end()) {
      const std::span<const std::string_view> words = kLayerKindWords;
      problems.add(entry.place, fmt::format("unknown kind of layer '{}'", entry.key),
                   allowed_words_hint(words, entry.key));
    }
    valid = valid && word != kLayerKindWords.end() && count;
    if (!valid) continue;
    const auto place = static_cast<std::size_t>(word - kLayerKindWords.begin());
    asked.push_back({kLayerKinds[place], static_cast<int>(*count), entry.place});
  }
  return valid ? std::optional(asked) : std::nullopt;
}

std::optional<std::vector<AskedLayers>> read_asked(const YamlNode& node, const ModelGeometry& model,
                                                   Problems& problems) {
  if (node.is_map()) return counted_layers(node, problems);
  if (node.is_scalar() && node.text == "all") return all_layers(node, model, problems);
  problems.add(node.place, fmt::format("layers takes 'all' or a map, found {}", describe(node)),
               kLayersForms);
  return std::nullopt;
}

/// Dense layers in the place of sparse ones.
bool stands_in(const ModelGeometry& model, LayerKind kind) {
  return kind == LayerKind::kFull && model.kinds[LayerKind::kFull] == 0;
}

/// "36 chunked": kinds that nothing was asked of.
std::string left_out_of(const ModelGeometry& model, const std::vector<AskedLayers>& asked) {
  LayerCounts rest = model.kinds;
  for (const AskedLayers& each : asked) {
    rest[stands_in(model, each.kind) ? LayerKind::kSparse : each.kind] = 0;
  }
  return rest.text();
}

std::string note_of(const ModelGeometry& model, LayerKind kind, const std::string& left_out) {
  if (stands_in(model, kind)) return notes_on(model, kind);
  std::string note = left_out.empty() ? "" : fmt::format("{} layers are left out", left_out);
  if (!model.notes.empty()) note += (note.empty() ? "" : "; ") + model.notes;
  return note;
}

/// The mix without the lengths of its requests' encoders.
YamlPtr without_encoders(const YamlPtr& mix) {
  const YamlEntry* const batch = mix->find("batch");
  if (batch == nullptr || !batch->value->is_list()) return mix;
  auto entries = std::make_shared<YamlNode>(*batch->value);
  for (YamlPtr& item : entries->items) {
    if (item->is_map()) item = without_entry(*item, "encoder_len");
  }
  return with_entry(*mix, "batch", batch->place, entries);
}

/// The mix with this one kind, whose name stands where the file asks for it; what only the others
/// have is left out.
YamlPtr mix_of(const YamlNode& mix, const AskedLayers& asked, bool beside_cross) {
  YamlPtr result = without_entry(mix, "layers");
  result = with_entry(*result, "layer", asked.place,
                      make_scalar(std::string(to_string(asked.kind)), asked.place, mix.path));
  if (beside_cross && asked.kind != LayerKind::kCross) result = without_encoders(result);
  if (asked.kind != LayerKind::kLinear) return result;
  return without_entry(*without_entry(*result, "kv_cache"), "attention");
}

}  // namespace

std::vector<MixOfLayers> mixes_of_layers(const YamlPtr& mix, Problems& problems) {
  const YamlEntry* const layers = mix->find("layers");
  if (layers == nullptr) return {{mix, {}, {}}};
  if (mix->find("layer") != nullptr) {
    problems.add(layers->place, "layers beside layer",
                 "`layer` runs one kind of the model's layers, `layers` several");
    return {};
  }
  const auto model = read_geometry(*mix, problems);
  if (!model) return {{without_entry(*mix, "layers"), {}, {}}};  // for its other mistakes
  const auto asked = read_asked(*layers->value, *model, problems);
  if (!asked) return {};
  const std::string left_out = left_out_of(*model, *asked);
  const bool has_cross =
      std::ranges::find(*asked, LayerKind::kCross, &AskedLayers::kind) != asked->end();
  int of_step = 0;
  for (const AskedLayers& each : *asked) {
    of_step += each.layers;
    const LayerKind has = stands_in(*model, each.kind) ? LayerKind::kSparse : each.kind;
    const int most = model->kinds[has];
    // A kind that the model has not at all is read_case()'s to refuse.
    if (model->name == kInlineModel || most == 0 || each.layers <= most) continue;
    problems.add(each.place,
                 fmt::format("{} {} layers, where {} has {}: {}", each.layers, to_string(each.kind),
                             model->name, most, model->kinds.text()),
                 kLayersForms);
    return {};
  }
  std::vector<MixOfLayers> mixes;
  for (const AskedLayers& each : *asked) {
    const bool are_all = each.layers == model->kinds[each.kind];
    const bool share_lists = are_all && each.kind == LayerKind::kSparse;
    mixes.push_back({mix_of(*mix, each, has_cross),
                     {.kind = std::string(to_string(each.kind)),
                      .layers = each.layers,
                      .of_step = of_step,
                      .left_out = left_out,
                      .kv_shared = are_all ? model->kv_shared[each.kind] : 0,
                      .index_shared = share_lists ? model->index_shared : 0},
                     note_of(*model, each.kind, left_out)});
  }
  return mixes;
}

std::string case_id_of_layers(const std::string& id, std::string_view kind) {
  if (kind.empty()) return id;
  return fmt::format("{}{}{}", id, id.find('/') == std::string::npos ? '/' : ',', kind);
}

std::string step_id_of(const std::string& case_id, std::string_view kind) {
  if (kind.empty() || case_id.size() <= kind.size() || !case_id.ends_with(kind)) return case_id;
  return case_id.substr(0, case_id.size() - kind.size() - 1);
}

}  // namespace attnbench
