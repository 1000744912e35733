// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/cpu_flash/plan.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/key_run.h"
#include "lib/model/attention_layer.h"

// Which keys rows read in a layer in which these are no run (AttentionLayer::gathers_keys).
namespace attnbench::cpu_flash {

/// Which of its token's lists a row of a request has, which is token * group + head of the KV head.
[[nodiscard]] int list_of_row(const AttentionLayer& layer, std::int64_t row, int kv_head);

/// Keys that a list of the KV head names for the token of `row` of a request, entries that name
/// none counted, too; or its compressed rows, where all of them are seen.
[[nodiscard]] std::int64_t keys_of_list(const ForwardBatch& batch, const AttentionLayer& layer,
                                        std::int64_t request, std::int64_t row, int kv_head);

/// The latest keys that rows from `row` on of a request see beside their list, in a layer that
/// gathers keys.
[[nodiscard]] KeyRun window_beside_list(const ForwardBatch& batch, const AttentionLayer& layer,
                                        std::int64_t request, std::int64_t row, int kv_head);

/// The keys of the item's part of its token's list, and those of the window behind them, into `to`.
/// Returns how many.
[[nodiscard]] std::int64_t load_gathered_keys(const ForwardBatch& batch, const Item& item,
                                              std::int32_t* to);

}  // namespace attnbench::cpu_flash
