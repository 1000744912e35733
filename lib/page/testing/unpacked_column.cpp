// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/testing/unpacked_column.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "lib/page/packed_column.h"

namespace attnbench {
namespace {

std::vector<std::size_t> numbers_in(std::string_view text, std::size_t width) {
  std::vector<std::size_t> numbers;
  for (; !text.empty(); text.remove_prefix(width)) {
    std::size_t number = 0;
    for (const char digit : text.substr(0, width)) number = number << 6 | kDigits64.find(digit);
    numbers.push_back(number);
  }
  return numbers;
}

Json figure_of(std::size_t code) {
  if (code == 0) return nullptr;
  if (code == 1) return 0.0;
  const auto number = static_cast<int>(code) - kFirstCode;
  return std::stod(fmt::format("{}e{}", kLeastMantissa + number % kMantissas,
                               kLeastExponent + number / kMantissas));
}

}  // namespace

std::vector<Json> unpacked_column(const Json& packed) {
  std::vector<Json> column;
  if (packed.contains("figures")) {
    for (const std::size_t code :
         numbers_in(packed["figures"].get_ref<const std::string&>(), kFigureWidth)) {
      column.push_back(figure_of(code));
    }
    return column;
  }
  const Json& values = packed["values"];
  std::size_t width = 1;
  while (values.size() > std::size_t{1} << (6 * width)) ++width;
  const std::vector<std::size_t> at = numbers_in(packed["at"].get_ref<const std::string&>(), width);
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::size_t rows =
        packed.contains("lengths") ? packed["lengths"][i].get<std::size_t>() : 1;
    column.insert(column.end(), rows, values[at[i]]);
  }
  return column;
}

}  // namespace attnbench
