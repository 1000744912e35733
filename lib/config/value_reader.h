// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"

namespace attnbench {

/// Largest length, count or size of the language: index arrays are int32.
inline constexpr std::int64_t kMaxSize = 2147483647;

// Each reader returns the value, or reports what was found, what is allowed, and returns nullopt.
// `what` is the key as the message names it.

/// A whole number in [lo, hi]; suffixes k and m multiply by 1024 and 1024^2.
[[nodiscard]] std::optional<std::int64_t> read_size(const YamlNode& node, std::string_view what,
                                                    std::int64_t lo, std::int64_t hi,
                                                    Problems& problems);

/// A size of memory of at least one byte; suffixes k, m and g multiply by 1024, its square and
/// cube.
[[nodiscard]] std::optional<std::int64_t> read_bytes(const YamlNode& node, std::string_view what,
                                                     Problems& problems);

/// A finite number greater than zero.
[[nodiscard]] std::optional<double> read_positive(const YamlNode& node, std::string_view what,
                                                  Problems& problems);

/// The same between 1e-30 and 1e30: a factor that f32 applies to a tensor's values and sums without
/// an overflow.
[[nodiscard]] std::optional<double> read_factor(const YamlNode& node, std::string_view what,
                                                Problems& problems);

[[nodiscard]] std::optional<bool> read_bool(const YamlNode& node, std::string_view what,
                                            Problems& problems);

/// Free text.
[[nodiscard]] std::optional<std::string> read_text(const YamlNode& node, std::string_view what,
                                                   Problems& problems);

/// A name: letters, digits, '_', '-' and '.', so that it can be part of a case id or a file name.
[[nodiscard]] std::optional<std::string> read_name(const YamlNode& node, std::string_view what,
                                                   Problems& problems);
/// The same check for a key that serves as a name.
[[nodiscard]] bool check_name(const std::string& name, const Place& place, std::string_view what,
                              Problems& problems);

/// One of `words`: its index.
[[nodiscard]] std::optional<std::size_t> read_choice(const YamlNode& node, std::string_view what,
                                                     std::span<const std::string_view> words,
                                                     Problems& problems);

/// "0.5%" or 0.005, as 0.005.
[[nodiscard]] std::optional<double> read_fraction(const YamlNode& node, std::string_view what,
                                                  Problems& problems);

/// The same from 0 to 1, both of which may be meant.
[[nodiscard]] std::optional<double> read_share(const YamlNode& node, std::string_view what,
                                               Problems& problems);

/// "500us", "20ms", "15s" or "2min" in seconds.
[[nodiscard]] std::optional<double> read_duration(const YamlNode& node, std::string_view what,
                                                  Problems& problems);

/// A number, whole text; nullopt without a report.
[[nodiscard]] std::optional<double> parse_number(std::string_view text);

}  // namespace attnbench
