// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/session/isolate/fields.h"

namespace attnbench {

// A struct is the array of its members, a vector of numbers the bytes that it holds: both ends run
// on one machine.

template <class T>
inline constexpr bool kIsPlain = std::is_arithmetic_v<T> || std::is_same_v<T, std::byte>;

template <class T>
[[nodiscard]] nlohmann::json to_json_fields(std::vector<T> values);
template <class T>
void from_json_fields(const nlohmann::json& json, std::vector<T>& values);

template <class T>
[[nodiscard]] nlohmann::json to_json_fields(T value) {
  if constexpr (std::is_enum_v<T>) {
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
  if constexpr (kIsPlain<T>) {
    const auto* const begin = reinterpret_cast<const std::uint8_t*>(values.data());
    return nlohmann::json::binary({begin, begin + values.size() * sizeof(T)});
  } else {
    nlohmann::json array = nlohmann::json::array();
    for (T& value : values) array.push_back(to_json_fields(std::move(value)));
    return array;
  }
}

/// Throws nlohmann::json::exception on anything that to_json_fields did not make of a T.
template <class T>
void from_json_fields(const nlohmann::json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
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
  if constexpr (kIsPlain<T>) {
    const auto& bytes = json.get_binary();
    expects(bytes.size() % sizeof(T) == 0, "the numbers of a worker are cut short");
    values.resize(bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  } else {
    values.assign(json.size(), T());
    for (std::size_t i = 0; i < values.size(); ++i) from_json_fields(json.at(i), values[i]);
  }
}

template <class T>
[[nodiscard]] T from_json_fields(const nlohmann::json& json) {
  T value{};
  from_json_fields(json, value);
  return value;
}

}  // namespace attnbench
