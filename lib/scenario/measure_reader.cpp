// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/measure_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "lib/base/lasting_path.h"
#include "lib/config/strict_map.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/fill.h"

namespace attnbench {
namespace {

/// A value or a list of values, none empty.
std::vector<const YamlNode*> one_or_more(const YamlNode& node, std::string_view what,
                                         Problems& problems) {
  if (!node.is_list()) return {&node};
  std::vector<const YamlNode*> nodes;
  for (const YamlPtr& item : node.items) nodes.push_back(item.get());
  if (nodes.empty()) problems.add(node.place, fmt::format("{} is an empty list", what));
  return nodes;
}

template <class T>
void add_distinct(std::vector<T>& values, T value, const YamlNode& node, Problems& problems) {
  if (std::ranges::find(values, value) != values.end()) {
    problems.add(node.place, fmt::format("'{}' is listed twice", node.text));
    return;
  }
  values.push_back(std::move(value));
}

template <class T, std::size_t N>
std::vector<T> read_choices(const YamlNode& node, std::string_view what,
                            const std::array<std::string_view, N>& words,
                            const std::array<T, N>& values, Problems& problems) {
  std::vector<T> chosen;
  for (const YamlNode* item : one_or_more(node, what, problems)) {
    const auto choice = read_choice(*item, what, words, problems);
    if (choice) add_distinct(chosen, values[*choice], *item, problems);
  }
  return chosen;
}

void read_bounds(const YamlNode& node, std::string_view what, int& min, int& max,
                 Problems& problems) {
  constexpr std::int64_t kMost = 1'000'000;
  if (!node.is_list() || node.items.size() != 2) {
    problems.add(node.place, fmt::format("{} takes two numbers, found {}", what, describe(node)),
                 fmt::format("the fewest and the most: {}: [{}, {}]", what, min, max));
    return;
  }
  const auto least = read_size(*node.items[0], what, 1, kMost, problems);
  const auto most = read_size(*node.items[1], what, 1, kMost, problems);
  if (!least || !most) return;
  if (*least > *most) {
    problems.add(node.items[0]->place,
                 fmt::format("{} begins at {} and ends at {}", what, *least, *most),
                 "the smaller number comes first");
    return;
  }
  min = static_cast<int>(*least);
  max = static_cast<int>(*most);
}

/// Batch sizes, each larger than the one before it.
std::vector<std::int64_t> read_buckets(const YamlNode& node, Problems& problems) {
  std::vector<std::int64_t> buckets;
  for (const YamlNode* item : one_or_more(node, "graph_buckets", problems)) {
    const auto size = read_size(*item, "a graph bucket", 1, kMaxSize, problems);
    if (!size) continue;
    if (!buckets.empty() && *size <= buckets.back()) {
      problems.add(item->place,
                   fmt::format("graph_buckets: {} comes after {}", *size, buckets.back()),
                   "batch sizes in ascending order, as in [1, 2, 4, 8, 16]");
      continue;
    }
    buckets.push_back(*size);
  }
  return buckets;
}

}  // namespace

MeasureConfig read_measure(const YamlNode& node, Problems& problems) {
  const StrictMap map(node, "measure", "measure", problems);
  MeasureConfig config;
  if (const YamlNode* cache = map.find("cache")) {
    config.cache = read_choices<CacheState, 3>(
        *cache, "cache", {"cold", "warm", "serving"},
        {CacheState::kCold, CacheState::kWarm, CacheState::kServing}, problems);
  }
  if (const YamlNode* launch = map.find("launch")) {
    config.launch = read_choices<LaunchMode, 2>(*launch, "launch", {"eager", "graph"},
                                                {LaunchMode::kEager, LaunchMode::kGraph}, problems);
  }
  if (const YamlNode* step = map.find("step")) {
    config.step = read_choices<StepPart, 3>(
        *step, "step", {"attention", "kv_write", "both"},
        {StepPart::kAttention, StepPart::kKvWrite, StepPart::kBoth}, problems);
  }
  if (const YamlNode* buckets = map.find("graph_buckets")) {
    config.graph_buckets = read_buckets(*buckets, problems);
  }
  if (const YamlNode* precision = map.find("precision")) {
    config.precision = read_fraction(*precision, "precision", problems).value_or(config.precision);
  }
  if (const YamlNode* rounds = map.find("rounds")) {
    read_bounds(*rounds, "rounds", config.min_rounds, config.max_rounds, problems);
  }
  if (const YamlNode* samples = map.find("samples")) {
    read_bounds(*samples, "samples", config.min_block_samples, config.max_block_samples, problems);
  }
  if (const YamlNode* block = map.find("block")) {
    config.block_s = read_duration(*block, "block", problems).value_or(config.block_s);
  }
  if (const YamlNode* timeout = map.find("timeout")) {
    config.cell_timeout_s =
        read_duration(*timeout, "timeout", problems).value_or(config.cell_timeout_s);
  }
  if (const YamlNode* limit = map.find("workspace_limit")) {
    config.workspace_limit = read_bytes(*limit, "workspace_limit", problems).value_or(0);
  }
  return config;
}

VerifyConfig read_verify(const YamlNode& node, Problems& problems) {
  const StrictMap map(node, "verify", "verify", problems);
  VerifyConfig config;
  if (const YamlNode* enabled = map.find("enabled")) {
    config.enabled = read_bool(*enabled, "enabled", problems).value_or(config.enabled);
  }
  if (const YamlNode* rows = map.find("rows")) {
    config.rows = read_size(*rows, "rows", 1, kMaxSize, problems).value_or(config.rows);
  }
  if (const YamlNode* fills = map.find("fills")) {
    std::array<std::string_view, kFills.size()> words;
    std::ranges::transform(kFills, words.begin(), [](Fill fill) { return to_string(fill); });
    config.fills = read_choices<Fill, kFills.size()>(*fills, "fills", words, kFills, problems);
  }
  if (const YamlNode* invariant = map.find("batch_invariant")) {
    constexpr std::array<std::string_view, 2> kWords{"measured", "required"};
    const auto choice = read_choice(*invariant, "batch_invariant", kWords, problems);
    config.batch_invariant_required = choice && *choice == 1;
  }
  if (const YamlNode* most = map.find("at_most")) {
    // By their roundings, the finest first.
    constexpr std::array kTypes{DType::kF32, DType::kF16, DType::kBF16, DType::kE4M3, DType::kE5M2};
    constexpr std::array<std::string_view, 5> kWords{"f32", "f16", "bf16", "e4m3", "e5m2"};
    const auto choice = read_choice(*most, "at_most", kWords, problems);
    if (choice) config.at_most = kTypes[*choice];
  }
  if (config.batch_invariant_required && !config.enabled) {
    problems.add(map.place_of("batch_invariant"), "batch_invariant: required beside enabled: false",
                 "what is required has to be checked: leave one of them out");
  }
  return config;
}

namespace {

/// Names that colons join, of variants; also what tuned ones ("splits=16"), pairs ("a+b") and globs
/// consist of.
std::optional<std::string> read_backend(const YamlNode& node, Problems& problems) {
  if (!node.is_scalar()) return read_name(node, "backend", problems);
  std::string part;
  for (std::size_t i = 0; i <= node.text.size(); ++i) {
    const char letter = i < node.text.size() ? node.text[i] : ':';
    if (letter == ':') {
      if (!check_name(part, node.place, "backend", problems)) return std::nullopt;
      part.clear();
    } else if (std::string_view("=+*?").find(letter) == std::string_view::npos) {
      part += letter;
    }
  }
  return node.text;
}

}  // namespace

bool is_plugin_file(const std::string& item) {
  return item.find('/') != std::string::npos || item.ends_with(".so") || item.ends_with(".py");
}

void read_backends(const YamlNode& node, Scenario& scenario, Problems& problems) {
  for (const YamlNode* item : one_or_more(node, "backends", problems)) {
    if (item->is_scalar() && is_plugin_file(item->text)) {
      const auto folder = std::filesystem::path(problems.file()).parent_path();
      scenario.backends.push_back(
          lasting_path((folder / item->text).string()));  // one that is named twice is loaded once
    } else if (auto name = read_backend(*item, problems)) {
      add_distinct(scenario.backends, std::move(*name), *item, problems);
    }
    // A name that is none or listed twice is a mistake, and ends the scenario.
    scenario.backend_places.push_back(item->place);
  }
}

void read_hybrid(const YamlNode& node, Scenario& scenario, Problems& problems) {
  const StrictMap map(node, "hybrid", "hybrid", problems);
  std::vector<std::string> parts;
  for (const char* key : {"prefill", "decode"}) {
    const YamlNode* const item = map.find(key);
    if (item == nullptr) {
      problems.add(node.place, fmt::format("hybrid has no {}", key),
                   "it takes the names of two backends: {prefill: NAME, decode: NAME}");
    } else if (auto name = read_backend(*item, problems)) {
      parts.push_back(std::move(*name));
    }
  }
  bool by_decode = false;
  if (const YamlNode* const mode = map.find("speculative_attention_mode")) {
    constexpr std::array<std::string_view, 2> kPhases{"prefill", "decode"};
    by_decode = read_choice(*mode, "speculative_attention_mode", kPhases, problems) == 1u;
  }
  if (parts.size() < 2) return;
  const bool alone = scenario.backends.empty();
  std::string pair = parts[0] + '+' + parts[1];
  if (by_decode) pair += ":speculative_attention_mode=decode";
  if (alone) scenario.backends = parts;
  if (alone && parts[0] == parts[1]) scenario.backends.pop_back();
  scenario.backends.push_back(std::move(pair));
  scenario.backend_places.resize(scenario.backends.size(), node.place);
}

}  // namespace attnbench
