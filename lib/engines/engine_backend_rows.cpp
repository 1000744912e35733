// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "lib/base/embedded_file.h"
#include "lib/config/data_row.h"
#include "lib/engines/engine_backends.h"

namespace attnbench {

/// data/engine_backends.yaml, compiled in.
std::span<const EmbeddedFile> embedded_engine_backends();

namespace {

constexpr std::string_view kLayersWords[] = {"mha", "mla", "sparse_mla", "linear", "vision"};
constexpr std::string_view kPlatformWords[] = {"cuda", "rocm"};
constexpr std::string_view kDraftsWords[] = {"none", "chains", "trees_on_single_pages", "trees"};
constexpr std::string_view kGraphWords[] = {"NEVER", "UNIFORM_SINGLE_TOKEN_DECODE", "UNIFORM_BATCH",
                                            "ALWAYS"};

using FeatureSets = std::map<std::string, EngineFeatures, std::less<>>;

/// A list of features' words and of names of sets.
EngineFeatures read_features(const YamlNode& list, const FeatureSets& sets, Problems& problems) {
  EngineFeatures features;
  for (const YamlPtr& item : list_items(list, problems)) {
    const auto set = sets.find(item->text);
    if (set != sets.end()) {
      features = features.with(set->second);
    } else if (const auto feature = find_engine_feature(item->text)) {
      features = features.with({*feature});
    } else {
      problems.add(item->place, "there is no feature or set " + describe(*item));
    }
  }
  return features;
}

EngineBackend read_backend(Engine engine, const YamlNode& node, const FeatureSets& sets,
                           Problems& problems) {
  EngineBackend backend{.engine = engine};
  DataRow row(node, problems);
  row.read("name", backend.name);
  row.read("layers", backend.layers, kLayersWords);
  row.read("platform", backend.platform, kPlatformWords);
  row.read("least", backend.least_capability);
  row.read("most", backend.most_capability);
  row.read("decodes_only", backend.decodes_only);
  row.read("pages", backend.pages);
  row.read("drafts", backend.drafts, kDraftsWords);
  row.read("graph", backend.graph, kGraphWords);
  row.read("draft_extend_graph", backend.draft_extend_graph);
  row.read("diffusion_graph", backend.diffusion_graph);
  row.read("only_dual_chunks", backend.only_dual_chunks);
  row.read("f32", backend.f32);
  row.read("unequal_dims", backend.unequal_dims);
  row.read("head_dims", backend.head_dims);
  row.read("padded_heads", backend.padded_heads);
  if (const YamlNode* takes = row.find("takes")) {
    backend.takes = read_features(*takes, sets, problems);
  }
  if (const YamlNode* unknown = row.find("unknown")) {
    backend.unknown = read_features(*unknown, sets, problems);
  }
  row.refuse_others();
  return backend;
}

std::vector<EngineBackend> read_backends(const YamlNode& root, Problems& problems) {
  DataRow sections(root, problems);
  FeatureSets sets;
  for (const YamlEntry& set : map_entries(sections.at("sets"), problems)) {
    sets.emplace(set.key, read_features(*set.value, {}, problems));
  }
  std::vector<EngineBackend> backends;
  for (const Engine engine : kEngines) {
    for (const YamlPtr& row : list_items(sections.at(to_string(engine)), problems)) {
      backends.push_back(read_backend(engine, *row, sets, problems));
    }
  }
  sections.refuse_others();
  return backends;
}

}  // namespace

std::span<const EngineBackend> engine_backend_rows() {
  static const std::vector<EngineBackend> rows = [] {
    std::vector<EngineBackend> backends;
    read_data(embedded_engine_backends().front().text, "engine_backends.yaml",
              [&](const YamlNode& root, Problems& problems) {
                backends = read_backends(root, problems);
              });
    return backends;
  }();
  return rows;
}

}  // namespace attnbench
