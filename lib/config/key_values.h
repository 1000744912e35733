// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/dtype.h"
#include "lib/config/key_table.h"
#include "lib/config/strict_map.h"
#include "lib/config/value_reader.h"

// What keys take, for the rows of key tables. Each value with a member is read into it; its default
// is what the member of a new struct holds.
namespace attnbench {

/// Read by the function of its section.
[[nodiscard]] KeyValue by_section(std::string takes, std::string usual = "");

/// A map of section `section`, which has a function of its own.
[[nodiscard]] KeyValue map_of(std::string section, std::string takes = "a map");

/// Read by `read`, which needs to know no other key.
template <class T>
[[nodiscard]] KeyValue by_hand(bool (*read)(const YamlNode&, T&, Problems&), std::string takes,
                               std::string usual = "", std::string section = "") {
  return {std::move(takes), std::move(usual), std::move(section), &typeid(T),
          [read](const YamlNode& node, std::string_view, void* into, Problems& problems) {
            return read(node, *static_cast<T*>(into), problems);
          }};
}

/// A member and `read(node, key, problems)`, which returns an optional of its value.
template <class T, class Member, class Read>
[[nodiscard]] KeyValue value_of(Member T::*member, std::string takes, std::string usual,
                                Read read) {
  return {
      std::move(takes), std::move(usual), "", &typeid(T),
      [member, read](const YamlNode& node, std::string_view key, void* into, Problems& problems) {
        const auto value = read(node, key, problems);
        if (value) static_cast<T*>(into)->*member = static_cast<Member>(*value);
        return value.has_value();
      }};
}

[[nodiscard]] inline bool is_none(const YamlNode& node) {
  return node.is_scalar() && node.text == "none";
}

/// As a file writes it: 4096 is "4k".
[[nodiscard]] std::string size_text(std::int64_t size);

/// A whole number in [lo, hi].
template <class T, class Member>
[[nodiscard]] KeyValue whole(Member T::*member, std::int64_t lo, std::int64_t hi = kMaxSize) {
  return value_of(member,
                  hi == kMaxSize ? fmt::format("a whole number from {}", lo)
                                 : fmt::format("a whole number from {} to {}", lo, hi),
                  size_text(static_cast<std::int64_t>(T{}.*member)),
                  [lo, hi](const YamlNode& node, std::string_view key, Problems& problems) {
                    return read_size(node, key, lo, hi, problems);
                  });
}

/// The same, or `none`, which is 0.
template <class T>
[[nodiscard]] KeyValue whole_or_none(std::int64_t T::*member, std::int64_t lo) {
  return value_of(member, fmt::format("a whole number from {}, or none", lo), "none",
                  [lo](const YamlNode& node, std::string_view key, Problems& problems) {
                    return is_none(node) ? std::optional<std::int64_t>(0)
                                         : read_size(node, key, lo, kMaxSize, problems);
                  });
}

/// A factor that f32 applies without an overflow.
template <class T, class Member>
[[nodiscard]] KeyValue factor(Member T::*member) {
  return value_of(member, "a number from 1e-30 to 1e30", fmt::format("{:g}", T{}.*member),
                  read_factor);
}

template <class T>
[[nodiscard]] KeyValue factor_or_none(double T::*member) {
  return value_of(member, "a number from 1e-30 to 1e30, or none", "none",
                  [](const YamlNode& node, std::string_view key, Problems& problems) {
                    return is_none(node) ? std::optional(0.0) : read_factor(node, key, problems);
                  });
}

template <class T, class Member>
[[nodiscard]] KeyValue positive(Member T::*member) {
  return value_of(member, "a number above 0", "", read_positive);
}

template <class T>
[[nodiscard]] KeyValue flag(bool T::*member) {
  return value_of(member, "true or false", T{}.*member ? "true" : "false", read_bool);
}

template <class T, class Member>
[[nodiscard]] KeyValue fraction(Member T::*member) {
  std::string usual;
  if constexpr (std::floating_point<Member>) usual = fmt::format("{:g}%", T{}.*member * 100);
  return value_of(member, "a fraction", usual, read_fraction);
}

/// From 0 to 1, both ends included.
template <class T>
[[nodiscard]] KeyValue share(double T::*member) {
  return value_of(member, "a share from 0 to 1", fmt::format("{:g}%", T{}.*member * 100),
                  read_share);
}

/// Seconds.
template <class T>
[[nodiscard]] KeyValue a_time(double T::*member) {
  const double seconds = T{}.*member;
  return value_of(
      member, "a time",
      seconds < 1 ? fmt::format("{:g}ms", seconds * 1e3) : fmt::format("{:g}s", seconds),
      read_duration);
}

template <class T>
[[nodiscard]] KeyValue bytes(std::int64_t T::*member) {
  return value_of(member, "a size of memory", "", read_bytes);
}

template <class T>
[[nodiscard]] KeyValue a_name(std::string T::*member) {
  return value_of(member, "a name", T{}.*member, read_name);
}

template <class T>
[[nodiscard]] KeyValue a_text(std::string T::*member) {
  return value_of(member, "a text", T{}.*member, read_text);
}

/// The words of `values`, as to_string() has them.
template <std::ranges::range Values>
[[nodiscard]] std::vector<std::string_view> words_of(const Values& values) {
  std::vector<std::string_view> words;
  for (const auto value : values) words.push_back(to_string(value));
  return words;
}

/// "`a` `b` `c`": how the reference lists words.
[[nodiscard]] std::string list_of_words(std::span<const std::string_view> words);

/// One of `values`, by its word. An optional member has no default.
template <class T, class Member, std::ranges::range Values>
[[nodiscard]] KeyValue word(Member T::*member, const Values& values) {
  using Enum = std::ranges::range_value_t<Values>;
  const std::vector<std::string_view> words = words_of(values);
  std::string usual;
  if constexpr (std::same_as<Member, Enum>) usual = to_string(T{}.*member);
  const std::vector<Enum> known(std::ranges::begin(values), std::ranges::end(values));
  return value_of(member, list_of_words(words), usual,
                  [words, known](const YamlNode& node, std::string_view key, Problems& problems) {
                    const auto choice = read_choice(node, key, words, problems);
                    return choice ? std::optional(known[*choice]) : std::nullopt;
                  });
}

/// A value or a list of values, none empty.
[[nodiscard]] std::vector<const YamlNode*> one_or_more(const YamlNode& node, std::string_view what,
                                                       Problems& problems);

/// Reports a value of a list that stands in it twice.
void refuse_second(const YamlNode& node, Problems& problems);

/// One or more of `values`, each once.
template <class T, class Enum, std::ranges::range Values>
[[nodiscard]] KeyValue words(std::vector<Enum> T::*member, const Values& values) {
  const std::vector<std::string_view> names = words_of(values);
  const std::vector<Enum> known(std::ranges::begin(values), std::ranges::end(values));
  std::vector<std::string_view> usual;
  const T fresh;
  for (const Enum value : fresh.*member) usual.push_back(to_string(value));
  return value_of(member, list_of_words(names) + ", or a list", list_of_words(usual),
                  [names, known](const YamlNode& node, std::string_view key, Problems& problems) {
                    std::vector<Enum> chosen;
                    for (const YamlNode* item : one_or_more(node, key, problems)) {
                      const auto choice = read_choice(*item, key, names, problems);
                      if (!choice) continue;
                      if (std::ranges::find(chosen, known[*choice]) != chosen.end()) {
                        refuse_second(*item, problems);
                      } else {
                        chosen.push_back(known[*choice]);
                      }
                    }
                    return std::optional(chosen);
                  });
}

/// Reads all keys of the map that are read into a T; false after a mistake.
template <class T>
[[nodiscard]] bool read_rows(const StrictMap& map, T& into, Problems& problems) {
  bool valid = true;
  for (const KeyRow& row : map.section().rows) {
    if (row.value.into == nullptr || *row.value.into != typeid(T)) continue;
    const YamlNode* node = map.find(row.name);
    if (node != nullptr) valid = row.value.read(*node, row.name, &into, problems) && valid;
  }
  return valid;
}

/// The same of a map that has all required keys; nullopt after a mistake.
template <class T>
[[nodiscard]] std::optional<T> read_whole(const StrictMap& map, Problems& problems, T into = {}) {
  const bool valid = map.has_required(problems) && read_rows(map, into, problems);
  return valid && map.sound() ? std::optional(into) : std::nullopt;
}

}  // namespace attnbench
