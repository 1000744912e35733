// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backends/wrappers/merge_states.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// How kernels find the keys of an item, which begin and end anywhere among the pages: by their
/// slots, or by pages of one token, which only some cache layouts have.
enum class ItemKeys : std::uint8_t { kBySlot, kInPages };

/// `kernels`, which know no items, with multi-item scoring in two passes. All tokens from the first
/// delimiter on see the keys before it, in a pass without a mask. Then each item is a causal
/// request of its own, whose delimiter stands before its first key and sees nothing. What items
/// hide from each other is not read, as in FlashInfer's kernel, which skips such tiles
/// (prefill.cuh).
[[nodiscard]] std::unique_ptr<Backend> with_item_passes(std::unique_ptr<Backend> kernels,
                                                        ItemKeys keys, MergeStates merge);

}  // namespace attnbench
