// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/engine_rules.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "lib/base/embedded_file.h"
#include "lib/config/data_row.h"

namespace attnbench {

/// data/*.yaml, compiled in.
std::span<const EmbeddedFile> embedded_engines();

namespace {

constexpr std::string_view kLayersWords[] = {"mha", "mla", "sparse_mla", "compressed_mla",
                                             "msa", "qsa", "linear",     "vision"};
constexpr std::string_view kPlatformWords[] = {"cuda", "rocm", "cpu", "xpu", "npu", "mps"};
constexpr std::string_view kDraftsWords[] = {"none", "chains", "trees_on_single_pages", "trees"};
constexpr std::string_view kGraphWords[] = {"NEVER", "UNIFORM_SINGLE_TOKEN_DECODE", "UNIFORM_BATCH",
                                            "ALWAYS"};

constexpr std::string_view kVersions = "versions";
constexpr std::string_view kIn = "in";  ///< of a row: the versions that it holds for

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
  row.read("fp8_pages", backend.fp8_pages);
  row.read("drafts", backend.drafts, kDraftsWords);
  row.read("graph", backend.graph, kGraphWords);
  row.read("draft_extend_graph", backend.draft_extend_graph);
  row.read("diffusion_graph", backend.diffusion_graph);
  row.read("of_model", backend.of_model);
  row.read("only_dual_chunks", backend.only_dual_chunks);
  row.read("f32", backend.f32);
  row.read("unequal_dims", backend.unequal_dims);
  row.read("head_dims", backend.head_dims);
  row.read("least_dim", backend.least_dim);
  row.read("most_dim", backend.most_dim);
  row.read("padded_heads", backend.padded_heads);
  if (const YamlNode* takes = row.find("takes")) {
    backend.takes = read_features(*takes, sets, problems);
  }
  if (const YamlNode* less = row.find("not_invariant")) {
    backend.not_invariant = read_features(*less, sets, problems);
  }
  if (const YamlNode* less = row.find("not_fp8")) {
    backend.not_fp8 = read_features(*less, sets, problems);
  }
  if (const YamlNode* unknown = row.find("unknown")) {
    backend.unknown = read_features(*unknown, sets, problems);
  }
  static_cast<void>(row.find(kIn));  // rows_in() has read it
  row.refuse_others();
  return backend;
}

std::vector<SetupCondition> read_conditions(const YamlNode& list, Problems& problems) {
  std::vector<SetupCondition> conditions;
  for (const YamlPtr& item : list_items(list, problems)) {
    if (const auto condition = SetupCondition::find(item->text)) {
      conditions.push_back(*condition);
    } else {
      problems.add(item->place, "there is no condition or feature " + describe(*item));
    }
  }
  return conditions;
}

ChoiceRule read_rule(const YamlNode& node, Problems& problems) {
  ChoiceRule rule;
  DataRow row(node, problems);
  if (const YamlNode* when = row.find("when")) rule.when = read_conditions(*when, problems);
  row.read("of", rule.of);
  row.read("take", rule.take);
  row.read("first_of", rule.first_of);
  row.read("why", rule.why);
  static_cast<void>(row.find(kIn));  // rows_in() has read it
  row.refuse_others();
  return rule;
}

/// The rows of a list that hold for a version: those that name no versions, and those that name it.
std::vector<YamlPtr> rows_in(const YamlNode& list, const std::string& version, Problems& problems) {
  std::vector<YamlPtr> rows;
  for (const YamlPtr& row : list_items(list, problems)) {
    std::vector<std::string> versions;
    DataRow(*row, problems).read(kIn, versions);
    if (versions.empty() || std::ranges::find(versions, version) != versions.end()) {
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<ChoiceRule> read_choice(const YamlNode* list, const std::string& version,
                                    Problems& problems) {
  std::vector<ChoiceRule> rules;
  if (list == nullptr) return rules;
  for (const YamlPtr& row : rows_in(*list, version, problems)) {
    rules.push_back(read_rule(*row, problems));
  }
  return rules;
}

EngineRules read_rules(Engine engine, const YamlNode& root, const std::string& version,
                       Problems& problems) {
  DataRow sections(root, problems);
  EngineRules rules;
  FeatureSets sets;
  for (const YamlEntry& set : map_entries(sections.at("sets"), problems)) {
    sets.emplace(set.key, read_features(*set.value, {}, problems));
  }
  for (const YamlPtr& row : rows_in(sections.at("backends"), version, problems)) {
    rules.backends.push_back(read_backend(engine, *row, sets, problems));
  }
  if (const auto validated = sets.find("validated in " + version); validated != sets.end()) {
    rules.validated = validated->second;
  }
  rules.attention = read_choice(&sections.at("attention"), version, problems);
  rules.replacements = read_choice(sections.find("replacements"), version, problems);
  rules.linear = read_choice(&sections.at("linear"), version, problems);
  rules.vision = read_choice(&sections.at("vision"), version, problems);
  static_cast<void>(sections.find(kVersions));  // read_engine() has read it
  sections.refuse_others();
  return rules;
}

/// All versions of an engine that its file has.
struct EngineFile {
  std::vector<std::string> versions;
  std::vector<EngineRules> rules;  ///< of each
};

EngineFile read_engine(Engine engine) {
  EngineFile file;
  const std::string_view stem = engine == Engine::kSglang ? "sglang" : "vllm";
  const auto texts = embedded_engines();
  const auto text = std::ranges::find(texts, stem, &EmbeddedFile::stem);
  read_data(text->text, std::string(stem) + ".yaml", [&](const YamlNode& root, Problems& problems) {
    DataRow(root, problems).read(kVersions, file.versions);
    for (const std::string& version : file.versions) {
      file.rules.push_back(read_rules(engine, root, version, problems));
    }
  });
  return file;
}

const EngineFile& file_of(Engine engine) {
  static const EngineFile sglang = read_engine(Engine::kSglang);
  static const EngineFile vllm = read_engine(Engine::kVllm);
  return engine == Engine::kSglang ? sglang : vllm;
}

}  // namespace

std::span<const std::string> engine_versions(Engine engine) { return file_of(engine).versions; }

std::optional<std::size_t> find_engine_version(Engine engine, std::string_view text) {
  const std::string prefix = std::string(text) + '.';
  const std::span<const std::string> versions = engine_versions(engine);
  const auto found = std::ranges::find_if(versions, [&](const std::string& version) {
    return version == text || version.starts_with(prefix);
  });
  if (found == versions.end()) return std::nullopt;
  return static_cast<std::size_t>(found - versions.begin());
}

const EngineRules& rules_of(Engine engine, const EngineSetup& setup) {
  return file_of(engine).rules[setup.version[static_cast<std::size_t>(engine)]];
}

}  // namespace attnbench
