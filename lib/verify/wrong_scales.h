// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lib/contents/contents.h"
#include "reference/oracle.h"

namespace attnbench {

/// A mistake in how stored numbers in fp8 become the ones that they stand for.
struct WrongScales {
  std::string text;
  /// Of element `dim` of the key, or value, at `position` of the row's request and KV head.
  std::function<double(std::int64_t position, bool is_value, std::uint32_t dim, float stored)> kv;
  double query = 1;  ///< what the row's stored query is multiplied with
};

/// Those that the row's case leaves room for. They refer to `contents`.
[[nodiscard]] std::vector<WrongScales> wrong_scales(const Case& c, const Contents& contents,
                                                    const RowId& id);

}  // namespace attnbench
