// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/dtype.h"

#include <array>
#include <utility>

namespace attnbench {
namespace {

constexpr std::array<std::pair<DType, std::string_view>, 5> kNames{{{DType::kF32, "f32"},
                                                                    {DType::kF16, "f16"},
                                                                    {DType::kBF16, "bf16"},
                                                                    {DType::kE4M3, "e4m3"},
                                                                    {DType::kE5M2, "e5m2"}}};

}  // namespace

std::string_view to_string(DType dtype) {
  for (const auto& [key, name] : kNames) {
    if (key == dtype) return name;
  }
  return "?";
}

std::optional<DType> dtype_from_string(std::string_view name) {
  for (const auto& [key, known] : kNames) {
    if (known == name) return key;
  }
  return std::nullopt;
}

}  // namespace attnbench
