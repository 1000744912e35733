// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_compressed_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {

LayerCounts kinds_by_compress_ratios(const JsonFields& config, int layers) {
  constexpr std::string_view kKey = "compress_ratios";
  LayerCounts kinds;
  if (!config.states(kKey)) {
    kinds[LayerKind::kSparse] = std::max(layers - 2, 0) / 2;
    kinds[LayerKind::kCompressed] = layers - kinds[LayerKind::kSparse];
    return kinds;
  }
  const std::vector<std::int64_t> ratios = *config.wholes(kKey, 0, kMaxWindow);
  if (std::ssize(ratios) < layers) {
    throw ConfigError(fmt::format("{} has {} entries for {} layers", config.path_of(kKey),
                                  ratios.size(), layers));
  }
  for (const std::int64_t ratio : std::span(ratios).first(static_cast<std::size_t>(layers))) {
    if (ratio != 0 && ratio != 4 && ratio != 128) {
      throw ConfigError(
          fmt::format("{} has {}; known are 0, 4 and 128", config.path_of(kKey), ratio));
    }
    ++kinds[ratio == 0   ? LayerKind::kSliding
            : ratio == 4 ? LayerKind::kSparse
                         : LayerKind::kCompressed];
  }
  return kinds;
}

void read_hf_compressed_rows(const JsonFields& config, const HfModelType& type,
                             ModelGeometry& model) {
  constexpr std::string_view kHeads = "num_key_value_heads";
  if (const auto heads = config.whole(kHeads, 1, kMaxHeads); heads && *heads != 1) {
    throw ConfigError(fmt::format("{} is {}: rows that are compressed have one head",
                                  config.path_of(kHeads), *heads));
  }
  model.kv_lora_rank = model.qk_nope_head_dim =
      static_cast<int>(config.whole("head_dim", 2, kMaxHeadDim).value_or(type.head_dim));
  model.sinks = type.sinks;
  model.index_topk =
      static_cast<int>(config.whole("index_topk", 1, kMaxWindow).value_or(type.index_topk));
  model.index_n_heads =
      static_cast<int>(config.whole("index_n_heads", 1, kMaxHeads).value_or(type.index_n_heads));
  const auto rates =
      config.states("compress_rates") ? config.object("compress_rates") : std::nullopt;
  const auto rate = [&](const char* kind, const char* legacy, std::int64_t fallback) {
    const auto stated = rates ? rates->whole(kind, 1, kMaxWindow) : std::nullopt;
    return static_cast<int>(
        config.whole(legacy, 1, kMaxWindow).value_or(stated.value_or(fallback)));
  };
  model.index_compress_ratio = rate("compressed_sparse_attention", "compress_rate_csa", 4);
  model.compress_ratio = rate("heavily_compressed_attention", "compress_rate_hca", 128);
}

}  // namespace attnbench
