// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_pooled_indexer.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// What a type calls the keys that are taken for a query, the indexer's heads, and keys of a pool.
struct PoolKeys {
  const char *budget, *heads, *pool;
};
constexpr PoolKeys kGlmKeys = {"index_topk", "index_n_heads", "index_kpool"};
constexpr PoolKeys kQwenKeys = {"indexer_budget", "indexer_n_heads", "indexer_compress_ratio"};

void refuse_other_than(const JsonFields& config, const char* key, std::int64_t known,
                       std::int64_t most) {
  const auto stated = config.states(key) ? config.whole(key, 1, most) : std::nullopt;
  if (!stated || *stated == known) return;
  throw ConfigError(fmt::format("{} is {}; only {} is known", config.path_of(key), *stated, known));
}

}  // namespace

void read_hf_pooled_indexer(const JsonFields& config, const HfModelType& type,
                            ModelGeometry& model) {
  if (type.rule != HfLayerRule::kIndexedEveryNth) return;
  const PoolKeys& keys = type.kv_lora_rank > 0 ? kGlmKeys : kQwenKeys;
  const auto read = [&](const char* key, std::int64_t most, int fallback) {
    const auto stated = config.states(key) ? config.whole(key, 1, most) : std::nullopt;
    return static_cast<int>(stated.value_or(fallback));
  };
  const int budget = read(keys.budget, kMaxWindow, type.index_topk);
  const int heads = read(keys.heads, kMaxHeads, type.index_n_heads);
  const int pool = read(keys.pool, kMaxWindow, type.index_pool);
  refuse_other_than(config, "index_head_dim", 128, kMaxHeadDim);
  refuse_other_than(config, "indexer_head_dim", 128, kMaxHeadDim);
  refuse_other_than(config, "indexer_kv_heads", 1, kMaxHeads);
  const bool any = budget > 0 || heads > 0 || pool > 0;
  if (any && (budget == 0 || heads == 0 || pool == 0)) {
    throw ConfigError(fmt::format("{}, {} and {} belong together", config.path_of(keys.budget),
                                  keys.heads, keys.pool));
  }
  constexpr const char* kTail = "index_kpool_always_select_tail";
  if (config.states(kTail) && config.is_false(kTail)) {
    throw ConfigError(
        fmt::format("{} is false: keys of a pool that is not complete would not be "
                    "seen, which attnbench cannot run",
                    config.path_of(kTail)));
  }
  const LayerKind attending = any ? LayerKind::kSparse : LayerKind::kFull;
  const LayerKind other = any ? LayerKind::kFull : LayerKind::kSparse;
  model.kinds[attending] += std::exchange(model.kinds[other], 0);
  if (!any) return;
  if (budget % pool != 0) {
    throw ConfigError(fmt::format("{} is {}, no multiple of {} {}", config.path_of(keys.budget),
                                  budget, keys.pool, pool));
  }
  model.index_n_heads = heads;
  model.index_topk = budget / pool;
  model.index_pool = pool > 1 ? pool : 0;
}

}  // namespace attnbench
