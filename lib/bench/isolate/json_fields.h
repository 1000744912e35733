// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/bench/isolate/fields.h"

namespace attnbench {

// A struct is the array of its members; NaN and infinities, which JSON lacks, are words; bytes are
// hexadecimal digits.

[[nodiscard]] nlohmann::json to_json_fields(const std::vector<std::byte>& bytes);
void from_json_fields(const nlohmann::json& json, std::vector<std::byte>& bytes);

template <class T>
[[nodiscard]] nlohmann::json to_json_fields(std::vector<T> values);
template <class T>
void from_json_fields(const nlohmann::json& json, std::vector<T>& values);

template <class T>
[[nodiscard]] nlohmann::json to_json_fields(T value) {
  if constexpr (std::is_same_v<T, double>) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  } else if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else {
    nlohmann::json array = nlohmann::json::array();
    visit_fields(value, [&](auto&... members) {
      (array.push_back(to_json_fields(std::move(members))), ...);
    });
    return array;
  }
}

template <class T>
[[nodiscard]] nlohmann::json to_json_fields(std::vector<T> values) {
  nlohmann::json array = nlohmann::json::array();
  for (T& value : values) array.push_back(to_json_fields(std::move(value)));
  return array;
}

/// Throws nlohmann::json::exception on anything that to_json_fields did not make of a T.
template <class T>
void from_json_fields(const nlohmann::json& json, T& value) {
  if constexpr (std::is_same_v<T, double>) {
    if (!json.is_string()) {
      value = json.get<double>();
    } else if (json == "nan") {
      value = std::numeric_limits<double>::quiet_NaN();
    } else {
      value = (json == "inf" ? 1 : -1) * std::numeric_limits<double>::infinity();
    }
  } else if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(json.get<std::underlying_type_t<T>>());
  } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
    value = json.get<T>();
  } else {
    std::size_t next = 0;
    visit_fields(value,
                 [&](auto&... members) { (from_json_fields(json.at(next++), members), ...); });
  }
}

template <class T>
void from_json_fields(const nlohmann::json& json, std::vector<T>& values) {
  values.assign(json.size(), T());
  for (std::size_t i = 0; i < values.size(); ++i) from_json_fields(json.at(i), values[i]);
}

template <class T>
[[nodiscard]] T from_json_fields(const nlohmann::json& json) {
  T value{};
  from_json_fields(json, value);
  return value;
}

}  // namespace attnbench
