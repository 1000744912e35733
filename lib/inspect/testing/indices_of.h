// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "lib/inspect/expanded_case.h"
#include "lib/layout/lay_out.h"

namespace attnbench {

/// One format of a case, as `expand --indices` shows it.
[[nodiscard]] inline BuiltIndices indices_of(std::string_view format, const Case& c) {
  BatchLayout layout = lay_out(c);
  layout.batch.req_to_token_pool = &layout.req_to_token_pool;
  return indices_of_case(index_format(format), c, layout);
}

/// An array that is there.
[[nodiscard]] inline const IndexArray& array_of(const BuiltIndices& built, std::string_view name) {
  return *std::ranges::find(built.arrays, name, &IndexArray::name);
}

[[nodiscard]] inline std::vector<std::int64_t> values_of(const BuiltIndices& built,
                                                         std::string_view name) {
  return array_of(built, name).widened();
}

}  // namespace attnbench
