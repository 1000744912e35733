// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <vector>

#include "lib/base/error.h"
#include "lib/model/hf_config.h"

namespace attnbench {
namespace {

using Json = nlohmann::json;
using Random = std::mt19937_64;

std::vector<Json> published_configs() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder(ATTNBENCH_SOURCE_DIR "/lib/model/testdata/hf");
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  std::vector<Json> configs;
  for (const auto& path : paths) {
    std::ifstream file(path);
    configs.push_back(Json::parse(file));
  }
  return configs;
}

std::size_t below(Random& random, std::size_t limit) { return random() % limit; }

/// A value of any type, sign and size.
Json odd_value(Random& random) {
  static const std::vector<Json> kValues = {
      0,
      -1,
      1,
      3,
      7,
      0.5,
      63.9,
      -0.0,
      1e-300,
      1e300,
      4096,
      4097,
      65536,
      2147483647,
      2147483648,
      4294967295,
      4294967296,
      4294967360,
      std::int64_t{9223372036854775807},
      std::uint64_t{9223372036854775808u},
      std::uint64_t{18446744073709551615u},
      std::int64_t{-9223372036854775807},
      true,
      false,
      nullptr,
      "",
      "32",
      "yarn",
      "llama",
      "linear_attention",
      std::string(1, '\0') + "x",
      Json::array(),
      Json::array({0, 1, -1}),
      Json::array({"full_attention", 3}),
      Json::object(),
      Json{{"type", "yarn"}, {"factor", -4}, {"mscale_all_dim", 1}},
      Json{{"model_type", "llama"}}};
  return kValues[below(random, kValues.size())];
}

/// Changes one thing somewhere below `value`, which is an object or a list.
void mutate(Json& value, Random& random) {
  if (value.empty()) return;
  auto entry = value.begin();
  std::advance(entry, static_cast<std::ptrdiff_t>(below(random, value.size())));
  if (entry->is_structured() && below(random, 3) > 0) return mutate(*entry, random);
  switch (below(random, 3)) {
    case 0:
      value.erase(entry);
      break;
    default:
      *entry = odd_value(random);
  }
}

std::string mutated(const Json& config, Random& random) {
  Json changed = config;
  const std::size_t changes = 1 + below(random, 3);
  for (std::size_t i = 0; i < changes; ++i) mutate(changed, random);
  std::string text = changed.dump();
  const std::size_t kind = below(random, 10);
  if (kind == 0) text.resize(below(random, text.size() + 1));
  if (kind == 1 && !text.empty()) {
    text[below(random, text.size())] = static_cast<char>(below(random, 256));
  }
  return text;
}

/// What is wrong with a geometry that was read; empty when all is in its range.
std::string nonsense_in(const ModelGeometry& m) {
  const auto outside = [](double value, double lo, double hi) {
    return !(value >= lo && value <= hi);
  };
  if (outside(m.layers, 1, kMaxLayers) || m.kinds.total() != m.layers) return "layers";
  for (const LayerKind kind : kLayerKinds) {
    if (m.kinds[kind] < 0) return "layer kinds";
  }
  if (outside(m.heads_q, 1, kMaxHeads)) return "heads_q";
  if (m.is_mla()) {
    if (outside(m.kv_lora_rank, 1, kMaxHeadDim) || outside(m.qk_nope_head_dim, 1, kMaxHeadDim) ||
        outside(m.qk_rope_head_dim, 1, kMaxHeadDim)) {
      return "latent dims";
    }
  } else if (outside(m.heads_kv, 1, m.heads_q) || m.heads_q % m.heads_kv != 0 ||
             outside(m.head_dim, 1, kMaxHeadDim)) {
    return "heads_kv or head_dim";
  }
  if (outside(static_cast<double>(m.sliding_window), 0, kMaxWindow)) return "sliding_window";
  if (outside(static_cast<double>(m.attention_chunk), 0, kMaxWindow)) return "attention_chunk";
  if (outside(static_cast<double>(m.temperature_len), 0, kMaxWindow)) return "temperature_len";
  const bool cross = m.kinds[LayerKind::kCross] > 0;
  if (outside(static_cast<double>(m.encoder_len), 0, cross ? kMaxWindow : 0)) return "encoder_len";
  if (m.dual_chunk.exists() && m.dual_chunk.step() < 1) return "dual_chunk";
  for (const LayerKind kind : {LayerKind::kFull, LayerKind::kSliding}) {
    if (m.kinds[kind] == 0) continue;
    const AttentionLayer layer = layer_of(m, kind, 1);
    const bool sane = layer.heads_q > 0 && layer.heads_kv > 0 && layer.head_dim_qk > 0 &&
                      layer.head_dim_v > 0 && std::isfinite(layer.scale) && layer.scale > 0 &&
                      layer.sliding_window_size >= (kind == LayerKind::kSliding ? 0 : -1);
    if (!sane) return "the layer";
  }
  return "";
}

TEST(MutatedHfConfigs, ten_thousand_are_refused_or_read_in_range) {
  const std::vector<Json> configs = published_configs();
  ASSERT_GE(configs.size(), 30u);
  Random random(20261121);
  int refused = 0, read = 0;
  for (int i = 0; i < 10000; ++i) {
    const std::string text = mutated(configs[below(random, configs.size())], random);
    try {
      const ModelGeometry model = parse_hf_config(text, "c.json");
      EXPECT_EQ(nonsense_in(model), "") << text;
      ++read;
    } catch (const ConfigError& error) {
      EXPECT_EQ(error.diagnostics().front().message.rfind("c.json: ", 0), 0u) << text;
      ++refused;
    }
  }
  // Both happen often, or the mutations would test one side alone.
  EXPECT_GT(refused, 2000);
  EXPECT_GT(read, 2000);
}

}  // namespace
}  // namespace attnbench
