// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/batch/cache_format.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// What one layer of a kind keeps on one tensor-parallel rank between steps.
struct LayerMemory {
  LayerKind kind = LayerKind::kFull;
  int layers = 0;
  int kv_shared = 0;                    ///< of these, layers that keep nothing but read another's
  bool runs = false;                    ///< attnbench can run such layers of this model
  AttentionLayer layer;                 ///< of a linear layer with unknown heads: a default one
  std::int64_t kv_bytes_per_token = 0;  ///< 0 for linear layers; of cross layers: of the encoder's
  /// Most tokens of a request whose keys stay, whole pages: a window or a chunk lies in so many
  /// pages at worst. None: all tokens.
  std::optional<std::int64_t> most_tokens;
  /// Tokens of a compressed row, as wide as a token's, that stays beside these; 0: there are none.
  std::int64_t compress_ratio = 0;
  /// A sparse layer whose indexer is its own has a cache for it beside that of keys and values:
  /// bytes of a row, and keys that a row is of (IndexerInputs). `indexers` of the layers have one.
  int indexers = 0;
  std::int64_t index_row_bytes = 0;
  std::int64_t index_row_keys = 1;
  /// Of a cross layer: the encoder's tokens of a request, which stay whatever the decoder's length.
  /// None where nothing says how many.
  std::optional<std::int64_t> encoder_len;
  /// Of a linear layer, for each request whatever its length: f32 states, and the last inputs of
  /// its convolution in the activations' type. Both none where its heads are not known.
  std::optional<std::int64_t> state_bytes, convolution_bytes;

  [[nodiscard]] bool is_linear() const { return kind == LayerKind::kLinear; }
  [[nodiscard]] bool is_cross() const { return kind == LayerKind::kCross; }
  /// Layers that keep keys and values, or states, of their own.
  [[nodiscard]] int keeping() const { return layers - kv_shared; }
  /// Bytes that a further token adds to a request in one layer, where it adds as much as any: a
  /// part of a row where rows are compressed. Not of an indexer.
  [[nodiscard]] double growth() const {
    return static_cast<double>(kv_bytes_per_token) /
           static_cast<double>(compress_ratio > 0 ? compress_ratio : 1);
  }
  /// Bytes of a request of `tokens` in one indexer's cache.
  [[nodiscard]] std::int64_t index_bytes(std::int64_t tokens, std::int64_t page_size) const;
  /// Bytes of a request of `tokens` in all layers of the kind; none where they are not known.
  [[nodiscard]] std::optional<std::int64_t> request_bytes_of_all(std::int64_t tokens,
                                                                 std::int64_t page_size) const;
  /// Bytes of a request of `tokens` in one layer without its indexer; none where they are not
  /// known.
  [[nodiscard]] std::optional<std::int64_t> request_bytes(std::int64_t tokens,
                                                          std::int64_t page_size) const;
};

/// What the layers of a model keep on one rank, by kind of layer.
struct ModelMemory {
  int tp = 1;
  CacheFormat format;
  std::vector<LayerMemory> kinds;  ///< in the order of kLayerKinds; those that the model has

  /// Bytes of a token in all layers that have its keys, where each keeps every token; of compressed
  /// rows a token's part of one.
  [[nodiscard]] double kv_bytes_per_token() const;
  /// Bytes of a token in the caches of all indexers.
  [[nodiscard]] double index_bytes_per_token() const;
  /// Bytes of an encoder's token in all cross layers.
  [[nodiscard]] std::int64_t encoder_bytes_per_token() const;
  /// Of a request of `tokens`, all layers; none where some layer's memory is not known.
  [[nodiscard]] std::optional<std::int64_t> request_bytes(std::int64_t tokens) const;
  /// The same in SGLang, where the encoder's tokens and the decoder's are slots of one row, and
  /// every layer has room for each slot (layer_num in mem_cache/kv_cache_configurator.py). None for
  /// a model without cross layers, too.
  [[nodiscard]] std::optional<std::int64_t> request_bytes_in_one_row(std::int64_t tokens) const;
  /// hybrid_page_tokens() of its layers; none where none has a state, or none keeps keys.
  [[nodiscard]] std::optional<std::int64_t> manager_page_tokens() const;
};

/// Tokens of a page of vLLM's memory manager in a hybrid model: whole pages of the kernel, so many
/// that a page of one layer's keys and values takes at least the bytes of a linear layer's state,
/// which has the same pages (_align_hybrid_block_size in platforms/interface.py).
[[nodiscard]] std::int64_t hybrid_page_tokens(std::int64_t state_bytes, std::int64_t token_bytes,
                                              std::int64_t kernel_page);

/// The KV cache has rows of `format` (its page_size counts; layouts take the same memory), the
/// activations are of `dtype`. A request's encoder has `encoder_len` tokens, or as many as the
/// model says. Throws ConfigError where heads do not divide among `tp` ranks, the model's cache
/// cannot be of the format, or an encoder is given to a model without cross layers.
[[nodiscard]] ModelMemory model_memory(const ModelGeometry& model, int tp,
                                       const CacheFormat& format, DType dtype,
                                       std::optional<std::int64_t> encoder_len = std::nullopt);

}  // namespace attnbench
