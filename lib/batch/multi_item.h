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

}  // namespace attnbench
