// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Tokens that `items` take with a delimiter before each and one behind the last; 0 without any.
[[nodiscard]] std::int64_t tokens_of_items(std::span<const std::int64_t> items);

/// FlashInfer's arrays for requests of `kv_lens` keys, which end in these items. A request without
/// items is all prefix, and causal.
[[nodiscard]] MultiItemParams make_multi_item_params(
    std::span<const std::int64_t> kv_lens, std::span<const std::vector<std::int64_t>> items);

/// The lengths from which make_multi_item_params() made the arrays of request r of `kv_len` keys.
[[nodiscard]] std::vector<std::int64_t> items_of_request(const MultiItemParams& params,
                                                         std::int64_t r, std::int64_t kv_len);

/// [T] positions at which RoPE rotates the query tokens of a batch with items: each item goes on
/// from the prefix, and a delimiter stands at the prefix's last token. SGLang writes them over
/// ForwardBatch::positions (FlashInferAttnBackend._process_multi_item_scoring); its kernels, and
/// what masks, ALiBi and temperatures count, are places.
[[nodiscard]] std::vector<std::int64_t> positions_beside_items(const ForwardBatch& batch);

}  // namespace attnbench
