// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/model_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/count.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/batch/indexer_inputs.h"
#include "lib/batch/token_to_kv_pool.h"

namespace attnbench {
namespace {

/// Tokens of the pages that hold `keys` neighbouring ones, which begin anywhere in a page or, if
/// they begin at multiples of `keys`, at its start where the page size allows.
std::int64_t tokens_kept(std::int64_t keys, std::int64_t page_size, bool aligned) {
  if (aligned && keys % page_size == 0) return keys;
  return round_up(keys + page_size - 1, page_size);
}

void add_states(LayerMemory& memory, const ModelGeometry& model, int tp, DType dtype) {
  if (!model.has_delta_net()) return;
  memory.layer = layer_of(model, LayerKind::kLinear, tp);
  const AttentionLayer& layer = memory.layer;
  memory.state_bytes =
      (Count(layer.heads_kv) * layer.head_dim_qk * layer.head_dim_v * size_bytes(DType::kF32))
          .value();
  // q, k and v pass through it.
  const Count channels =
      Count(2) * layer.heads_q * layer.head_dim_qk + Count(layer.heads_kv) * layer.head_dim_v;
  memory.convolution_bytes =
      (channels * (model.linear_conv_kernel_dim - 1) * size_bytes(dtype)).value();
}

void add_cache(LayerMemory& memory, const ModelGeometry& model, int tp, const CacheFormat& format) {
  const bool slides = memory.kind == LayerKind::kSliding;  // only these may have other heads
  memory.layer = layer_of(model, slides ? LayerKind::kSliding : LayerKind::kFull, tp);
  if (const std::string refusal = scales_refusal(memory.layer, format); !refusal.empty()) {
    throw ConfigError(refusal);
  }
  memory.kv_bytes_per_token = bytes_of_token(pool_shape_of(memory.layer, format, 1));
  memory.compress_ratio = model.compress_ratio_of(memory.kind);
  if (memory.kind == LayerKind::kSliding || memory.compress_ratio > 0) {
    memory.most_tokens = tokens_kept(model.sliding_window, format.page_size, false);
  } else if (memory.kind == LayerKind::kChunked) {
    memory.most_tokens = tokens_kept(model.attention_chunk, format.page_size, true);
  }
}

void add_index(LayerMemory& memory, const ModelGeometry& model, int tp) {
  if (memory.kind != LayerKind::kSparse || model.index_topk == 0) return;
  const Selection selection = layer_of(model, LayerKind::kSparse, tp).selection;
  memory.indexers = memory.layers - model.index_shared;
  memory.index_row_keys = selection.pool();
  memory.index_row_bytes = selection.scores_in_bf16()
                               ? IndexerInputs::kDim * size_bytes(DType::kBF16)
                               : IndexerInputs::kKeyBytes;
}

}  // namespace

std::int64_t LayerMemory::index_bytes(std::int64_t tokens, std::int64_t page_size) const {
  return (Count(round_up(tokens / index_row_keys, page_size)) * index_row_bytes).value();
}

std::optional<std::int64_t> LayerMemory::request_bytes_of_all(std::int64_t tokens,
                                                              std::int64_t page_size) const {
  const auto bytes = request_bytes(tokens, page_size);
  if (!bytes) return std::nullopt;
  return (Count(keeping()) * *bytes + Count(indexers) * index_bytes(tokens, page_size)).value();
}

std::optional<std::int64_t> LayerMemory::request_bytes(std::int64_t tokens,
                                                       std::int64_t page_size) const {
  if (is_linear()) {
    if (!state_bytes) return std::nullopt;
    return *state_bytes + *convolution_bytes;
  }
  if (is_cross()) {
    if (!encoder_len) return std::nullopt;
    return (Count(round_up(*encoder_len, page_size)) * kv_bytes_per_token).value();
  }
  const std::int64_t kept = round_up(tokens, page_size);
  const std::int64_t rows = compress_ratio > 0 ? round_up(tokens / compress_ratio, page_size) : 0;
  return (Count((most_tokens ? std::min(kept, *most_tokens) : kept) + rows) * kv_bytes_per_token)
      .value();
}

double ModelMemory::kv_bytes_per_token() const {
  double sum = 0;
  for (const LayerMemory& each : kinds) sum += each.is_cross() ? 0 : each.keeping() * each.growth();
  return sum;
}

double ModelMemory::index_bytes_per_token() const {
  double sum = 0;
  for (const LayerMemory& each : kinds) {
    sum += each.indexers * static_cast<double>(each.index_row_bytes) /
           static_cast<double>(each.index_row_keys);
  }
  return sum;
}

std::int64_t ModelMemory::encoder_bytes_per_token() const {
  Count sum = 0;
  for (const LayerMemory& each : kinds) {
    if (each.is_cross()) sum += Count(each.keeping()) * each.kv_bytes_per_token;
  }
  return sum.value();
}

std::optional<std::int64_t> ModelMemory::request_bytes(std::int64_t tokens) const {
  Count sum = 0;
  for (const LayerMemory& each : kinds) {
    const auto bytes = each.request_bytes_of_all(tokens, format.page_size);
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  return sum.value();
}

std::optional<std::int64_t> ModelMemory::request_bytes_in_one_row(std::int64_t tokens) const {
  const auto cross = std::ranges::find_if(kinds, &LayerMemory::is_cross);
  if (cross == kinds.end() || !cross->encoder_len) return std::nullopt;
  const std::int64_t slots = round_up(*cross->encoder_len + tokens, format.page_size);
  Count row = 0;
  for (const LayerMemory& each : kinds) row += Count(each.keeping()) * each.kv_bytes_per_token;
  return (Count(slots) * row).value();
}

std::int64_t hybrid_page_tokens(std::int64_t state_bytes, std::int64_t token_bytes,
                                std::int64_t kernel_page) {
  return kernel_page * ceil_div(state_bytes, kernel_page * token_bytes);
}

std::optional<std::int64_t> ModelMemory::manager_page_tokens() const {
  std::int64_t token = 0, state = 0;
  for (const LayerMemory& each : kinds) {
    token = std::max(token, each.is_cross() ? 0 : each.kv_bytes_per_token);
    if (each.is_linear()) state = each.request_bytes(0, format.page_size).value_or(0);
  }
  if (token == 0 || state == 0) return std::nullopt;
  return hybrid_page_tokens(state, token, format.page_size);
}

ModelMemory model_memory(const ModelGeometry& model, int tp, const CacheFormat& format, DType dtype,
                         std::optional<std::int64_t> encoder_len) {
  if (encoder_len && model.kinds[LayerKind::kCross] == 0) {
    throw ConfigError(
        fmt::format("{} has no cross layers, which alone keep an encoder's keys", model.name));
  }
  if (!encoder_len && model.encoder_len > 0) encoder_len = model.encoder_len;
  ModelMemory memory;
  memory.tp = tp;
  memory.format = format;
  const std::vector<LayerKind> runnable = runnable_kinds(model);
  for (const LayerKind kind : kLayerKinds) {
    if (model.kinds[kind] == 0) continue;
    LayerMemory& each = memory.kinds.emplace_back();
    each.kind = kind;
    each.layers = model.kinds[kind];
    each.kv_shared = model.kv_shared[kind];
    each.runs = std::ranges::find(runnable, kind) != runnable.end();
    if (each.is_linear()) {
      add_states(each, model, tp, dtype);
    } else {
      add_cache(each, model, tp, format);
      add_index(each, model, tp);
    }
    if (each.is_cross()) each.encoder_len = encoder_len;
  }
  return memory;
}

}  // namespace attnbench
