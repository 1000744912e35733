// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace attnbench {

/// One array of an index format, whole.
struct IndexArray {
  std::string name;
  std::string_view dtype;            ///< as NumPy spells it; "int" for a number
  std::vector<std::int64_t> shape;   ///< empty for a number
  std::vector<std::int64_t> values;  ///< row-major
};

using IndexArrays = std::vector<IndexArray>;

/// The array in `values`, a vector or a span: a table of `columns` columns, or without them an
/// array of one dimension.
template <class Values>
[[nodiscard]] IndexArray index_array(std::string name, const Values& values,
                                     std::optional<std::int64_t> columns = {}) {
  using Integer = typename Values::value_type;
  static_assert(std::is_same_v<Integer, std::uint8_t> || std::is_same_v<Integer, std::int32_t> ||
                std::is_same_v<Integer, std::int64_t>);
  const char* const dtype = sizeof(Integer) == 1   ? "uint8"
                            : sizeof(Integer) == 4 ? "int32"
                                                   : "int64";
  std::vector<std::int64_t> shape = {std::ssize(values)};
  if (columns) shape = {*columns == 0 ? 0 : std::ssize(values) / *columns, *columns};
  return {std::move(name), dtype, std::move(shape), {values.begin(), values.end()}};
}

[[nodiscard]] inline IndexArray index_number(std::string name, std::int64_t value) {
  return {std::move(name), "int", {}, {value}};
}

}  // namespace attnbench
