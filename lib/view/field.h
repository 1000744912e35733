// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/base/error.h"
#include "lib/view/json.h"

// Members of a struct by name, for everything that writes, reads or describes them.
namespace attnbench {

/// How a member of an S, or a figure of it, becomes JSON, and is read from text.
template <class S>
struct Access {
  std::function<Json(const S&)> value;
  std::function<void(S&, const std::string&)> read;  ///< throws ConfigError on a bad value
  Json type;                                         ///< what a JSON schema says of the value
  std::string absent{};                              ///< what the CSV has for null
};

// Of a text, into a member. Throw ConfigError.
void from_text(const std::string& text, std::string& value);
void from_text(const std::string& text, int& value);
void from_text(const std::string& text, std::int64_t& value);
void from_text(const std::string& text, float& value);
void from_text(const std::string& text, double& value);
void from_text(const std::string& text, bool& value);

/// A float is the double that prints like it: 0.1, not 0.10000000149011612.
[[nodiscard]] double as_written(float value);

template <class T>
[[nodiscard]] Json type_of() {
  if constexpr (std::is_floating_point_v<T>) return {{"type", {"number", "null"}}};
  if constexpr (std::is_same_v<T, bool>) return {{"type", "boolean"}};
  if constexpr (std::is_same_v<T, std::string>) return {{"type", "string"}};
  return {{"type", "integer"}, {"minimum", 0}};
}

template <class T>
struct OwnerOf;
template <class S, class Member>
struct OwnerOf<Member S::*> {
  using Type = S;
};
template <auto kFirst>
using Owner = typename OwnerOf<decltype(kFirst)>::Type;

/// A member of a member … of a struct: member<&Record::timing, &CellTiming::median_us>().
template <auto kFirst, auto... kMore>
[[nodiscard]] Access<Owner<kFirst>> member() {
  using S = Owner<kFirst>;
  using Member = std::remove_cvref_t<decltype(((S().*kFirst).*....*kMore))>;
  return {[](const S& s) {
            if constexpr (std::is_same_v<Member, float>) {
              return Json(as_written(((s.*kFirst).*....*kMore)));
            } else {
              return Json(((s.*kFirst).*....*kMore));
            }
          },
          [](S& s, const std::string& text) { from_text(text, ((s.*kFirst).*....*kMore)); },
          type_of<Member>()};
}

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

/// A member that is one of the enumerators `kAll`, by its word, or null where an optional holds
/// none.
template <const auto& kAll, auto kFirst, auto... kMore>
[[nodiscard]] Access<Owner<kFirst>> word() {
  using S = Owner<kFirst>;
  Json words = Json::array();
  for (const auto each : kAll) words.push_back(to_string(each));
  return {[](const S& s) {
            const auto& value = ((s.*kFirst).*....*kMore);
            if constexpr (kIsOptional<std::remove_cvref_t<decltype(value)>>) {
              return value ? Json(to_string(*value)) : Json(nullptr);
            } else {
              return Json(to_string(value));
            }
          },
          [](S& s, const std::string& text) {
            for (const auto each : kAll) {
              if (to_string(each) != text) continue;
              ((s.*kFirst).*....*kMore) = each;
              return;
            }
            throw ConfigError(fmt::format("unknown word '{}'", text));
          },
          {{"enum", std::move(words)}}};
}

/// Restricts the schema's type to these words.
template <class S>
[[nodiscard]] Access<S> of_words(Access<S> access, std::vector<std::string> words) {
  access.type = {{"enum", std::move(words)}};
  return access;
}

/// Restricts the schema's type to integers of at least `minimum`.
template <class S>
[[nodiscard]] Access<S> at_least(int minimum, Access<S> access) {
  access.type["minimum"] = minimum;
  return access;
}

/// The same of an S that is a member of a larger struct.
template <auto kMember, class S>
[[nodiscard]] Access<Owner<kMember>> inside(Access<S> access) {
  using Whole = Owner<kMember>;
  return {
      [value = access.value](const Whole& whole) { return value(whole.*kMember); },
      [read = access.read](Whole& whole, const std::string& text) { read(whole.*kMember, text); },
      std::move(access.type), std::move(access.absent)};
}

/// A row of the table of a struct.
template <class S>
struct Field {
  std::string name;  ///< in JSON; of "dual_chunk/chunk_size" results only have the column's name
  Access<S> access;
  std::string says;      ///< what it is, a sentence without its full stop
  std::string none{};    ///< what its value in an S{} means: "no chunks"; results have null for it
  std::string column{};  ///< in the CSV of results, if it is not `name`
  bool in_results = true;
  bool (*exists)(const S&) = nullptr;  ///< else it exists unless it is `none`

  [[nodiscard]] bool has(const S& s) const {
    if (exists != nullptr) return exists(s);
    return none.empty() || access.value(s) != access.value(S{});
  }
};

/// Adds all fields of `s` under their names.
template <class S>
void add_fields(Json& json, const std::vector<Field<S>>& fields, const S& s) {
  for (const Field<S>& field : fields) {
    json[Json::json_pointer('/' + field.name)] = field.access.value(s);
  }
}

}  // namespace attnbench
