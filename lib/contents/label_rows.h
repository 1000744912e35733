// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "lib/batch/indexer_inputs.h"
#include "lib/contents/contents.h"

namespace attnbench {

// What the labels are made of that an indexer scores (Selection::scores_labels()), as a function of
// the case's contents. A label has a key's elements in the heavy channels of its KV head.

/// Channel `number` of the heavy ones of a KV head: an element of a query and key. A head has each
/// once, in no order, as a calibration sorts them. The same in all fills and samples.
[[nodiscard]] int heavy_channel(const Contents& contents, int kv_head, int number);

/// The key that is labelled: numbers that bf16 holds exactly. Requests with a common prefix have
/// the same ones there.
using LabelledKey = std::array<float, IndexerInputs::kDim>;
[[nodiscard]] LabelledKey labelled_key(const Contents& contents, std::int64_t request,
                                       std::int64_t position, int kv_head);

}  // namespace attnbench
