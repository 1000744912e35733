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

#include "lib/base/dtype.h"
#include "lib/base/error.h"

// What a run and its workers exchange. A struct is the array of its members, in their order, so a
// new member needs no line here. A vector of numbers is the bytes that it holds: both ends run on
// one machine.

namespace attnbench {

/// Stands for a member of whatever type when the members of a struct are counted.
struct AnyField {
  template <class T>
  operator T() const;  // NOLINT(google-explicit-constructor): never defined, only asked for
};

template <class T, std::size_t... I>
[[nodiscard]] constexpr bool takes_fields(std::index_sequence<I...> /*count*/) {
  return requires { T{(static_cast<void>(I), AnyField())...}; };
}

/// How many members a struct without constructors has.
template <class T, std::size_t N = 0>
[[nodiscard]] constexpr std::size_t field_count() {
  static_assert(std::is_aggregate_v<T>, "a struct with constructors has no list of members");
  if constexpr (takes_fields<T>(std::make_index_sequence<N + 1>())) {
    return field_count<T, N + 1>();
  } else {
    return N;
  }
}

/// Calls `visit` once, with all members of `value`.
template <class T, class Visit>
void visit_fields(T& value, Visit visit) {
  constexpr std::size_t kCount = field_count<T>();
  static_assert(kCount >= 2 && kCount <= 28, "add a line for so many members");
  if constexpr (kCount == 2) {
    auto& [a, b] = value;
    visit(a, b);
  } else if constexpr (kCount == 3) {
    auto& [a, b, c] = value;
    visit(a, b, c);
  } else if constexpr (kCount == 4) {
    auto& [a, b, c, d] = value;
    visit(a, b, c, d);
  } else if constexpr (kCount == 5) {
    auto& [a, b, c, d, e] = value;
    visit(a, b, c, d, e);
  } else if constexpr (kCount == 6) {
    auto& [a, b, c, d, e, f] = value;
    visit(a, b, c, d, e, f);
  } else if constexpr (kCount == 7) {
    auto& [a, b, c, d, e, f, g] = value;
    visit(a, b, c, d, e, f, g);
  } else if constexpr (kCount == 8) {
    auto& [a, b, c, d, e, f, g, h] = value;
    visit(a, b, c, d, e, f, g, h);
  } else if constexpr (kCount == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = value;
    visit(a, b, c, d, e, f, g, h, i);
  } else if constexpr (kCount == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = value;
    visit(a, b, c, d, e, f, g, h, i, j);
  } else if constexpr (kCount == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k);
  } else if constexpr (kCount == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l);
  } else if constexpr (kCount == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m);
  } else if constexpr (kCount == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  } else if constexpr (kCount == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  } else if constexpr (kCount == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  } else if constexpr (kCount == 17) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  } else if constexpr (kCount == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  } else if constexpr (kCount == 19) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  } else if constexpr (kCount == 20) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  } else if constexpr (kCount == 21) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  } else if constexpr (kCount == 22) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  } else if constexpr (kCount == 23) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  } else if constexpr (kCount == 24) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  } else if constexpr (kCount == 25) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y);
  } else if constexpr (kCount == 26) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z] = value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z);
  } else if constexpr (kCount == 27) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa] =
        value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa);
  } else {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb] =
        value;
    visit(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb);
  }
}

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

/// Throws nlohmann::json::exception or InternalError on anything that to_json_fields did not make
/// of a T.
template <class T>
void from_json_fields(const nlohmann::json& json, T& value) {
  if constexpr (std::is_enum_v<T>) {
    value = static_cast<T>(json.get<std::underlying_type_t<T>>());
    // to_string() has no word for what is no enumerator.
    expects(to_string(value) != "?", "a worker sent a value that does not exist");
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
