// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/case_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "lib/base/system.h"
#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/fill.h"
#include "lib/scenario/language.h"

namespace attnbench {
namespace {

bool read_bounds(const YamlNode& node, std::string_view what, int& min, int& max,
                 Problems& problems) {
  constexpr std::int64_t kMost = 1'000'000;
  if (!node.is_list() || node.items.size() != 2) {
    problems.add(node.place, fmt::format("{} takes two numbers, found {}", what, describe(node)),
                 fmt::format("the fewest and the most: {}: [{}, {}]", what, min, max));
    return false;
  }
  const auto least = read_size(*node.items[0], what, 1, kMost, problems);
  const auto most = read_size(*node.items[1], what, 1, kMost, problems);
  if (!least || !most) return false;
  if (*least > *most) {
    problems.add(node.items[0]->place,
                 fmt::format("{} begins at {} and ends at {}", what, *least, *most),
                 "the smaller number comes first");
    return false;
  }
  min = static_cast<int>(*least);
  max = static_cast<int>(*most);
  return true;
}

bool read_rounds(const YamlNode& node, MeasureConfig& config, Problems& problems) {
  return read_bounds(node, "rounds", config.min_rounds, config.max_rounds, problems);
}

bool read_samples(const YamlNode& node, MeasureConfig& config, Problems& problems) {
  return read_bounds(node, "samples", config.min_block_samples, config.max_block_samples, problems);
}

/// Batch sizes, each larger than the one before it.
bool read_buckets(const YamlNode& node, MeasureConfig& config, Problems& problems) {
  std::vector<std::int64_t>& buckets = config.graph_buckets;
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
  return true;
}

bool read_invariance(const YamlNode& node, VerifyConfig& config, Problems& problems) {
  constexpr std::array<std::string_view, 2> kWords{"measured", "required"};
  const auto choice = read_choice(node, "batch_invariant", kWords, problems);
  config.batch_invariant_required = choice == 1u;
  return choice.has_value();
}

}  // namespace

KeySection measure_section() {
  constexpr LaunchMode kLaunchModes[] = {LaunchMode::kEager, LaunchMode::kGraph};
  static const std::string kStepSays = "What of a layer's step is run, each a row of its own: " +
                                       list_of_parts(&StepPartRow::as_key, ", or ") + ".";
  return {
      "measure",
      "measure",
      "measure",
      {{"cache", words(&MeasureConfig::cache, kCacheStates),
        "What the last-level cache holds when a sample begins: `cold` nothing of the step, `warm` "
        "what the same forward left there, `serving` what an engine's step has just written: "
        "queries, index arrays and the backend's workspace."},
       {"launch", words(&MeasureConfig::launch, kLaunchModes),
        "`eager` launches, or the replay of a captured CUDA `graph`."},
       {"step", words(&MeasureConfig::step, kStepParts), kStepSays},
       {"index_format", word(&MeasureConfig::index_form, kIndexForms),
        "What `index` builds: `csr`, kv_indptr and kv_indices in pages, or a `page_table`."},
       {"graph_buckets", by_hand(read_buckets, "whole numbers, ascending"),
        "Batch sizes for which an engine records CUDA graphs. A smaller batch is padded; a larger "
        "one is no graph cell.",
        "none: a graph has the size of its batch"},
       {"precision", fraction(&MeasureConfig::precision),
        "Stop when the half-width of the 95 % interval is this part of the median."},
       {"rounds", by_hand(read_rounds, "two whole numbers", "[12, 40]"),
        "Fewest and most visits to each cell; a round visits every cell of a case once."},
       {"block", a_time(&MeasureConfig::block_s), "The samples of one visit fill about this long."},
       {"samples", by_hand(read_samples, "two whole numbers", "[5, 150]"),
        "Fewest and most samples of one visit."},
       {"timeout", a_time(&MeasureConfig::cell_timeout_s),
        "Time for the rounds of one cell; a cell that has not reached `precision` then is marked."},
       {"workspace_limit", bytes(&MeasureConfig::workspace_limit),
        "A plan that wants more workspace is skipped with both figures, as an engine's fixed "
        "buffer would make it fail.",
        "none"}}};
}

KeySection verify_section() {
  // By their roundings, the finest first.
  constexpr std::array kTypes{DType::kF32, DType::kF16, DType::kBF16, DType::kE4M3, DType::kE5M2};
  return {"verify",
          "verify",
          "verify",
          {{"enabled", flag(&VerifyConfig::enabled), "`false`: there are no verdicts."},
           {"rows", whole(&VerifyConfig::rows, 1),
            "Rows (query token, head) of each fill that the reference computes; every request has "
            "one at least."},
           {"fills", words(&VerifyConfig::fills, kFills),
            "The data sets that are checked; `timing` has the contents of a timed sample."},
           {"batch_invariant", by_hand(read_invariance, "`measured` `required`", "measured"),
            "Whether a request's bits may depend on the rest of its batch: `required` tests 100 "
            "batches and makes a backend that differs INCORRECT, `measured` tests two requests and "
            "reports it."},
           {"at_most", word(&VerifyConfig::at_most, kTypes),
            "The loosest type in which a backend may say that it rounds; a looser one is "
            "unsupported.",
            "any"}}};
}

KeySection hybrid_section() {
  return {"hybrid",
          "hybrid",
          "hybrid",
          {{"prefill", by_section("a name"), "The backend of prompts.", "", true},
           {"decode", by_section("a name"), "The backend of decodes.", "", true},
           {"speculative_attention_mode", by_section("`prefill` `decode`", "prefill"),
            "Which of the two runs draft trees."}}};
}

MeasureConfig read_measure(const YamlNode& node, Problems& problems) {
  MeasureConfig config;
  static_cast<void>(read_rows(ScenarioMap(node, "measure", "measure", problems), config, problems));
  return config;
}

VerifyConfig read_verify(const YamlNode& node, Problems& problems) {
  const ScenarioMap map(node, "verify", "verify", problems);
  VerifyConfig config;
  static_cast<void>(read_rows(map, config, problems));
  if (config.batch_invariant_required && !config.enabled) {
    problems.add(map.place_of("batch_invariant"), "batch_invariant: required beside enabled: false",
                 "what is required has to be checked: leave one of them out");
  }
  return config;
}

namespace {

/// Names that colons join, of variants; also what tuned ones ("splits=16"), pairs ("a+b"), those of
/// environments ("v33/a") and globs consist of.
std::optional<std::string> read_backend(const YamlNode& node, Problems& problems) {
  if (!node.is_scalar()) return read_name(node, "backend", problems);
  const bool one_part = node.text.find_first_of(":/") == std::string::npos;
  std::string part;
  bool is_glob = false;
  for (std::size_t i = 0; i <= node.text.size(); ++i) {
    const char letter = i < node.text.size() ? node.text[i] : ':';
    if (letter == ':' || letter == '/') {
      const bool any = part.empty() && is_glob && !one_part;  // "v33/*"
      if (!any && !check_name(part, node.place, "backend", problems)) return std::nullopt;
      part.clear();
      is_glob = false;
    } else if (letter == '*' || letter == '?') {
      is_glob = true;
    } else if (std::string_view("=+").find(letter) == std::string_view::npos) {
      part += letter;
    }
  }
  return node.text;
}

}  // namespace

bool is_plugin_file(const std::string& item) {
  return item.starts_with('/') || item.starts_with('.') || item.ends_with(".so") ||
         item.ends_with(".py");
}

void read_backends(const YamlNode& node, Scenario& scenario, Problems& problems) {
  for (const YamlNode* item : one_or_more(node, "backends", problems)) {
    if (item->is_scalar() && is_plugin_file(item->text)) {
      const auto folder = std::filesystem::path(problems.file()).parent_path();
      scenario.backends.push_back(
          lasting_path((folder / item->text).string()));  // one that is named twice is loaded once
    } else if (auto name = read_backend(*item, problems)) {
      if (std::ranges::find(scenario.backends, *name) != scenario.backends.end()) {
        refuse_second(*item, problems);
      } else {
        scenario.backends.push_back(std::move(*name));
      }
    }
    // A name that is none or listed twice is a mistake, and ends the scenario.
    scenario.backend_places.push_back(item->place);
  }
}

void read_python(const YamlNode& node, Scenario& scenario, Problems& problems) {
  if (!node.is_map() || node.entries.empty()) {
    problems.add(node.place, fmt::format("python takes a map of names, found {}", describe(node)),
                 "for example {v33: envs/new/bin/python, v22: envs/old/bin/python}");
    return;
  }
  const auto folder = std::filesystem::path(problems.file()).parent_path();
  for (const YamlEntry& entry : node.entries) {
    if (!check_name(entry.key, entry.place, "environment", problems)) continue;
    auto program = read_text(*entry.value, "python", problems);
    if (!program) continue;
    if (program->find('/') != std::string::npos) {
      program = lasting_path((folder / *program).string());
    }
    scenario.python.push_back({entry.key, std::move(*program)});
  }
}

void read_hybrid(const YamlNode& node, Scenario& scenario, Problems& problems) {
  const ScenarioMap map(node, "hybrid", "hybrid", problems);
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
