// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/built_arrays.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/base/narrow.h"

namespace attnbench {
namespace {

BuiltArray taken(const IndexArrays& arrays, std::string_view name) {
  const auto found = std::ranges::find(arrays, name, &IndexArray::name);
  expects(found != arrays.end(), "a form without an array of its own");
  return {found->name, found->shape, std::get<std::vector<std::int32_t>>(found->values), {}, 0};
}

std::vector<BuiltArray> csr_of(const IndexArrays& arrays) {
  BuiltArray starts = taken(arrays, "kv_indptr");
  BuiltArray pages = taken(arrays, "kv_indices");
  starts.kept = 1;
  starts.requests.push_back(0);
  for (std::size_t r = 0; r + 1 < starts.values.size(); ++r) {
    starts.requests.push_back(narrow_i32(std::ssize(starts.requests)) - 1);
    pages.requests.insert(pages.requests.end(), to_size(starts.values[r + 1] - starts.values[r]),
                          starts.requests.back());
  }
  return {std::move(starts), std::move(pages)};
}

std::vector<BuiltArray> page_table_of(const IndexArrays& arrays) {
  BuiltArray table = taken(arrays, "page_table");
  for (std::int64_t r = 0; r < table.shape[0]; ++r) {
    table.requests.insert(table.requests.end(), to_size(table.shape[1]), narrow_i32(r));
  }
  return {std::move(table)};
}

/// "kv_indices[17]", "page_table[3, 2]".
std::string place_of(const BuiltArray& array, std::int64_t element) {
  if (array.shape.size() == 1) return fmt::format("{}[{}]", array.name, element);
  const std::int64_t columns = array.shape[1];
  return fmt::format("{}[{}, {}]", array.name, element / columns, element % columns);
}

}  // namespace

std::vector<BuiltArray> built_arrays(IndexForm form, const IndexStep& step) {
  const BuiltIndices built = build_indices(index_format(to_string(form)), step);
  expects(built.why_not.empty(), "index arrays of a step that has none");
  switch (form) {
    case IndexForm::kCsr:
      return csr_of(built.arrays);
    case IndexForm::kPageTable:
      return page_table_of(built.arrays);
  }
  return {};
}

std::int64_t count_built(std::span<const BuiltArray> arrays) {
  std::int64_t elements = 0;
  for (const BuiltArray& array : arrays) {
    elements += std::ssize(array.values) - std::ranges::count(array.values, kUnbuilt);
  }
  return elements;
}

std::string fault_of_element(const BuiltArray& wanted, std::int64_t element, std::int32_t got) {
  const std::int32_t want = wanted.values[to_size(element)];
  if (got == want || want == kUnbuilt) return {};
  return fmt::format("{} of request {} {}; it should be {}", place_of(wanted, element),
                     wanted.requests[to_size(element)],
                     got == kUnbuilt ? "was not written" : fmt::format("is {}", got), want);
}

std::string fault_of_built(std::span<const BuiltArray> wanted, std::span<const std::int32_t> got) {
  for (const BuiltArray& array : wanted) {
    expects(got.size() >= array.values.size(), "arrays of other sizes than those that are wanted");
    for (std::size_t i = 0; i < array.values.size(); ++i) {
      if (got[i] == array.values[i] || array.values[i] == kUnbuilt) continue;
      return fault_of_element(array, static_cast<std::int64_t>(i), got[i]);
    }
    got = got.subspan(array.values.size());
  }
  return {};
}

}  // namespace attnbench
