// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/option_values.h"

#include <CLI/CLI.hpp>

#include <fmt/format.h>

#include <functional>
#include <limits>
#include <utility>

#include "lib/base/error.h"
#include "lib/config/value_reader.h"

namespace attnbench {
namespace {

constexpr double kMostSeconds = 1e6;

/// `read` on the option's word; what it reports becomes the option's message.
template <class Read>
CLI::Validator by_reader(Read read) {
  return CLI::Validator(
      [read](std::string& input) -> std::string {
        Problems problems({}, {});
        const auto value = read(*make_scalar(input, {}, {}), problems);
        try {
          problems.throw_if_any();
        } catch (const ConfigError& error) {
          const Diagnostic& first = error.diagnostics().front();
          return first.message + (first.hint.empty() ? "" : "\n   " + first.hint);
        }
        input = fmt::format("{}", value.value());
        return {};
      },
      "");
}

std::optional<double> read_seconds(const YamlNode& node, std::string_view what,
                                   Problems& problems) {
  Problems other_words({}, {});  // of files, where a unit is a must
  const std::optional<double> plain = parse_number(node.text);
  const std::optional<double> value =
      plain && *plain > 0 ? plain : read_duration(node, what, other_words);
  if (value && *value <= kMostSeconds) return value;
  if (value) {
    problems.add({}, fmt::format("{} {} is more than {:g}s", what, node.text, kMostSeconds));
  } else {
    problems.add({}, fmt::format("{} takes a time, found {}", what, describe(node)),
                 "a number of seconds greater than 0, or one with its unit, for example 20ms or "
                 "2min; units: us ms s min");
  }
  return std::nullopt;
}

}  // namespace

CLI::Validator whole_number(std::string what, std::int64_t lo, std::int64_t hi) {
  return by_reader([what = std::move(what), lo, hi](const YamlNode& node, Problems& problems) {
    return read_size(node, what, lo, hi, problems);
  });
}

CLI::Validator memory_size(std::string what) {
  return by_reader([what = std::move(what)](const YamlNode& node, Problems& problems) {
    return read_bytes(node, what, problems);
  });
}

CLI::Validator fraction(std::string what) {
  return by_reader([what = std::move(what)](const YamlNode& node, Problems& problems) {
    return read_fraction(node, what, problems);
  });
}

CLI::Validator seconds(std::string what) {
  return by_reader([what = std::move(what)](const YamlNode& node, Problems& problems) {
    return read_seconds(node, what, problems);
  });
}

CLI::Validator not_empty() {
  return CLI::Validator(
      [](const std::string& input) {
        return input.empty() ? std::string("is empty; a variable that is not set?") : std::string();
      },
      "");
}

CLI::Option* add_seed_option(CLI::App& app, std::optional<std::uint64_t>& seed) {
  return app.add_option("--seed", seed, "overrides the scenario's seed")
      ->transform(whole_number("seed", 0, std::numeric_limits<std::int64_t>::max()));
}

}  // namespace attnbench
