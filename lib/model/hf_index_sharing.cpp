// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_index_sharing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr const char* kTypes = "indexer_types";
constexpr const char* kPattern = "index_topk_pattern";
constexpr const char* kFrequency = "index_topk_freq";
constexpr const char* kOffset = "index_skip_topk_offset";

/// What the config says of each layer: "full", "shared" or another word.
std::vector<std::string> words_of(const JsonFields& config) {
  if (config.states(kTypes)) return *config.words(kTypes);
  const std::string letters = *config.word(kPattern);
  std::vector<std::string> words;
  for (const char letter : letters) {
    words.push_back(letter == 'F' ? "full" : letter == 'S' ? "shared" : std::string(1, letter));
  }
  return words;
}

[[noreturn]] void refuse_first(const JsonFields& config, const char* key) {
  throw ConfigError(fmt::format("{}: the first layer shares an indexer, and none stands before it",
                                config.path_of(key)));
}

int shared_by_list(const JsonFields& config, int layers) {
  const char* const key = config.states(kTypes) ? kTypes : kPattern;
  std::vector<std::string> words = words_of(config);
  // Layers that only draft tokens (MTP) may follow.
  if (std::ssize(words) < layers) {
    throw ConfigError(
        fmt::format("{} has {} entries for {} layers", config.path_of(key), words.size(), layers));
  }
  words.resize(static_cast<std::size_t>(layers));
  int shared = 0;
  for (const std::string& word : words) {
    if (word != "full" && word != "shared") {
      throw ConfigError(fmt::format("{} has {}; known are full and shared, or F and S",
                                    config.path_of(key), shown(word)));
    }
    shared += word == "shared" ? 1 : 0;
  }
  if (words.front() == "shared") refuse_first(config, key);
  return shared;
}

int shared_by_period(const JsonFields& config, int layers) {
  const std::int64_t period = config.states(kFrequency)
                                  ? config.whole(kFrequency, 1, kMaxLayers).value_or(1)
                                  : std::int64_t{1};
  const std::int64_t offset =
      config.states(kOffset) ? config.whole(kOffset, 0, kMaxLayers).value_or(2) : std::int64_t{2};
  if (offset == 0 && period > 1) refuse_first(config, kOffset);
  int shared = 0;
  for (std::int64_t i = 0; i < layers; ++i) {
    shared += std::max<std::int64_t>(i - offset + 1, 0) % period == 0 ? 0 : 1;
  }
  return shared;
}

}  // namespace

void read_index_sharing(const JsonFields& config, ModelGeometry& model) {
  if (model.index_topk == 0) return;
  const bool is_list = config.states(kTypes) || config.states(kPattern);
  const int shared =
      is_list ? shared_by_list(config, model.layers) : shared_by_period(config, model.layers);
  if (shared == 0) return;
  if (model.kinds[LayerKind::kSparse] != model.layers) {
    throw ConfigError(fmt::format(
        "{} layers share indexers beside layers that are not sparse ({}): which of them "
        "is not known",
        shared, model.kinds.text()));
  }
  model.index_shared = shared;
  model.add_note(
      fmt::format("{} sparse layers attend to the keys that an earlier one took", shared));
}

}  // namespace attnbench
