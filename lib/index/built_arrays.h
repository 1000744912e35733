// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/batch/index_outputs.h"
#include "lib/index/index_formats.h"

namespace attnbench {

/// What all bytes of an array are before a step builds it, as its elements: no page or sum.
inline constexpr std::int32_t kUnbuilt = -1;

/// An array that a step of StepPart::kIndex has to build. Elements that are kUnbuilt may be
/// anything: they lie behind a request's pages.
struct BuiltArray {
  const char* name = "";
  std::vector<std::int64_t> shape;
  std::vector<std::int32_t> values;    ///< row-major
  std::vector<std::int32_t> requests;  ///< of each element; of a sum the last one that it counts
  /// Elements at the beginning that hold their values before the step, too: an engine's kv_indptr
  /// begins with a 0 that it writes once.
  std::int64_t kept = 0;
};

/// In the order of IndexForm's comments. The step's pages lie in a pool, and it has requests.
[[nodiscard]] std::vector<BuiltArray> built_arrays(IndexForm form, const IndexStep& step);

/// Elements of the arrays that may not be anything.
[[nodiscard]] std::int64_t count_built(std::span<const BuiltArray> arrays);

/// Says what is wrong with one element: "kv_indices[17] of request 3 is 5; it should be 9". Empty
/// where it is right.
[[nodiscard]] std::string fault_of_element(const BuiltArray& wanted, std::int64_t element,
                                           std::int32_t got);

/// Names the first wrong element; empty when there is none. `got` are the elements of `wanted`,
/// array after array.
[[nodiscard]] std::string fault_of_built(std::span<const BuiltArray> wanted,
                                         std::span<const std::int32_t> got);

}  // namespace attnbench
