// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/config/problems.h"
#include "lib/config/strict_map.h"
#include "lib/scenario/batch_builder.h"
#include "lib/scenario/batch_reader.h"
#include "lib/scenario/case.h"
#include "lib/scenario/layer_reader.h"

namespace attnbench {

/// What a mix says of one step, read part by part.
struct StepParts {
  const StrictMap& mix;
  const Place& batch_place;
  const BatchEntries& entries;
  const BuiltBatch& batch;
  const LayerChoice& choice;
  const BatchPadding& padding;
  KvCacheConfig& cache;
};

/// Whether the parts go together; reports each pair that does not. Turns swa_pool off on layers
/// that keep all keys, where the mix is of several kinds of layers.
[[nodiscard]] bool check_step(const StepParts& step, Problems& problems);

/// The cache must hold the fixture's values as numbers. fp8 saturates, all others overflow.
[[nodiscard]] bool check_range(const Case& c, const StrictMap& mix, Problems& problems);

/// Queries in fp8 must stay numbers, and so must outputs of random data. Planted outputs may be
/// larger than the type's largest number, which they become.
[[nodiscard]] bool check_fp8_range(const Case& c, const StrictMap& mix, Problems& problems);

}  // namespace attnbench
