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

CLI::Validator share(std::string what) {
  return by_reader([what = std::move(what)](const YamlNode& node, Problems& problems) {
    return read_share(node, what, problems);
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

CLI::Option* add_threads_option(CLI::App& app, int& threads) {
  return app.add_option("--threads", threads, "CPU threads; 0 = all this process may use")
      ->transform(whole_number("threads", 0, 4096))
      ->type_name("N");
}

CLI::Option* add_tp_option(CLI::App& app, int& tp) {
  return app.add_option("--tp", tp, "tensor-parallel ranks")
      ->transform(whole_number("tp", 1, 1024))
      ->capture_default_str();
}

CLI::Option* add_format_option(CLI::App& app, std::string& format) {
  return app.add_option("--format", format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
}

CLI::Option* add_case_option(CLI::App& app, std::vector<std::string>& cases,
                             const std::string& help) {
  return app.add_option("--case", cases, help)->allow_extra_args(false);
}

CLI::Option* add_backend_option(CLI::App& app, std::vector<std::string>& backends,
                                const std::string& help) {
  return app.add_option("--backend", backends, help)
      ->option_text("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
}

void CpuTargetOption::add_to(CLI::App& command) {
  command
      .add_option("--cpu-target", name,
                  "instruction set of CPU kernels: avx2, avx512, avx512_bf16, neon; the best "
                  "that this processor has if not given")
      ->option_text("NAME");
}

}  // namespace attnbench
