// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/batch/forward_mode.h"
#include "lib/config/problems.h"
#include "lib/scenario/batch_reader.h"
#include "lib/scenario/case.h"

namespace attnbench {

struct RequestLengths {
  std::int64_t q_len, kv_len;
};

/// The lengths of an entry's requests. Any two of q_len, prefix_len and kv_len decide the third;
/// the mode, a tree, a chunk or a shared prefix can stand for one of them.
[[nodiscard]] std::optional<std::vector<RequestLengths>> settle_lengths(const BatchEntry& entry,
                                                                        bool cross,
                                                                        std::uint64_t seed,
                                                                        Problems& problems);

/// Of a model's cross layer: the encoder's tokens of each request, `of_model` where the entry does
/// not say; 0: the model has no such figure. All other lengths of the entry are its decoder's.
[[nodiscard]] std::optional<std::vector<std::int64_t>> settle_encoder_lens(const BatchEntry& entry,
                                                                           std::int64_t of_model,
                                                                           std::uint64_t seed,
                                                                           Problems& problems);

/// The requests of a step, every length settled.
struct BuiltBatch {
  ForwardMode mode = ForwardMode::kIdle;
  std::vector<SharedPrefix> prefixes;  ///< those that some request uses, and their ancestors
  std::vector<Request> requests;
  int draft_topk = 0;             ///< Case::draft_topk
  std::int64_t causal_block = 1;  ///< AttentionLayer::causal_block of the step
};

/// Whose keys a layer reads.
struct LayerKeys {
  enum class Source : std::uint8_t {
    kRequest,       ///< the request's own: kv_len counts its prefix and its new tokens
    kEncoder,       ///< an encoder's, and kv_len counts those: `attention: {cross: true}`
    kBesideDecoder  ///< an encoder's, and encoder_len counts those: a cross layer of a model
  };
  Source source = Source::kRequest;
  std::int64_t encoder_len = 0;  ///< kBesideDecoder: of entries without one; 0: none
};

/// Draws and derives the lengths of a batch. `seed` is the mix's: two mixes draw differently, the
/// cases of one mix's sweep alike.
///
/// Prefix caches match whole pages (SGLang: of 65 tokens in pages of 64, 64): an extend behind
/// nothing but its shared prefix computes what the prefix leaves on a last, partial page itself, on
/// top of its q_len.
[[nodiscard]] std::optional<BuiltBatch> build_batch(const std::vector<BatchEntry>& entries,
                                                    const Place& place, const LayerKeys& keys,
                                                    std::int64_t page_size, std::uint64_t seed,
                                                    Problems& problems);

}  // namespace attnbench
