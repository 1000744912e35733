// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "lib/batch/forward_batch.h"
#include "lib/batch/problem.h"
#include "lib/index/index_array.h"
#include "lib/index/usual_gpu.h"

namespace attnbench {

/// What index arrays are made from.
struct IndexStep {
  const ForwardBatch& batch;  ///< has its req_to_token_pool
  /// That the batch is a step of. Arrays of a recorded problem have the same strides in all its
  /// steps: tables are as wide as its longest request may be.
  const Problem& problem;
  std::int64_t num_pages = 0;                      ///< of the KV pool, dummy page 0 included
  std::int64_t multiprocessors = kDefaultSmCount;  ///< among which schedules divide the work
};

/// A form in which kernels are told where the keys of a batch lie, or how to divide them.
struct IndexFormat {
  std::string_view name;                     ///< the word that asks for it
  std::string_view readers;                  ///< by whose kernels the arrays are read
  std::string (*why_not)(const IndexStep&);  ///< why a step has no such arrays; empty: it has them
  IndexArrays (*build)(const IndexStep&);
};

/// All formats: of `expand --indices` and of plug-ins.
[[nodiscard]] std::span<const IndexFormat> index_formats();
/// The format of a name. Throws std::invalid_argument with the names that are near, or with all
/// of them.
[[nodiscard]] const IndexFormat& index_format(std::string_view name);

/// A format of one step: its arrays, or why there are none.
struct BuiltIndices {
  const IndexFormat* format = nullptr;
  std::string why_not;
  IndexArrays arrays;
};
[[nodiscard]] BuiltIndices build_indices(const IndexFormat& format, const IndexStep& step);

}  // namespace attnbench
