// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace attnbench {

/// One array of an index format, whole, in host memory; or a number.
struct IndexArray {
  using Values = std::variant<std::int64_t, std::vector<std::uint8_t>, std::vector<std::int32_t>,
                              std::vector<std::int64_t>>;

  const char* name = "";            ///< as its readers call it
  std::vector<std::int64_t> shape;  ///< empty for a number
  Values values;                    ///< row-major
  /// Elements for which there has to be room: those of the largest step of a recorded problem.
  std::int64_t most = 0;

  /// As NumPy spells it; "int" for a number.
  [[nodiscard]] std::string_view dtype() const {
    static constexpr std::string_view kDtypes[] = {"int", "uint8", "int32", "int64"};
    return kDtypes[values.index()];
  }
  [[nodiscard]] bool is_number() const { return values.index() == 0; }
  [[nodiscard]] std::span<const std::byte> bytes() const {
    return std::visit(
        [](const auto& array) {
          if constexpr (requires { array.data(); }) {
            return std::as_bytes(std::span(array));
          } else {
            return std::span<const std::byte>();
          }
        },
        values);
  }
  [[nodiscard]] std::int64_t element_bytes() const {
    return std::array{0, 1, 4, 8}[values.index()];
  }
  /// All values in 64 bits, for those who print them.
  [[nodiscard]] std::vector<std::int64_t> widened() const {
    return std::visit(
        [](const auto& array) -> std::vector<std::int64_t> {
          if constexpr (requires { array.begin(); }) {
            return {array.begin(), array.end()};
          } else {
            return {array};
          }
        },
        values);
  }
};

using IndexArrays = std::vector<IndexArray>;

/// The array in `values`: a table of `columns` columns, or without them an array of one dimension.
template <class Integer>
[[nodiscard]] IndexArray index_array(const char* name, std::vector<Integer> values,
                                     std::optional<std::int64_t> columns = {}) {
  const std::int64_t size = std::ssize(values);
  std::vector<std::int64_t> shape = {size};
  if (columns) shape = {*columns == 0 ? 0 : size / *columns, *columns};
  return {name, std::move(shape), std::move(values), size};
}

[[nodiscard]] inline IndexArray index_number(const char* name, std::int64_t value) {
  return {name, {}, value, 0};
}

}  // namespace attnbench
