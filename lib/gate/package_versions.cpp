// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/package_versions.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "lib/base/embedded_file.h"
#include "lib/base/error.h"
#include "lib/isolate/child_output.h"
#include "lib/view/json.h"

namespace attnbench {

/// Holds package_host.py.
std::span<const EmbeddedFile> embedded_package_host();

namespace {

/// Some packages take a gigabyte over the network, or compile.
constexpr std::chrono::hours kToInstall{1};

/// What package_host.py says.
Json answer_of(const PackageSource& source, const std::vector<std::string>& question) {
  std::vector<std::string> words = {source.python, "-c",
                                    std::string(embedded_package_host().front().text)};
  words.insert(words.end(), question.begin(), question.end());
  ChildOutput output;
  try {
    output = output_of_child(std::move(words), kToInstall, source.stop_requested);
  } catch (const EnvironmentError&) {
    output.end = "cannot be run";
  }
  const std::string last = output.last_line();
  Json answer = Json::parse(last, nullptr, false);
  if (!output.is_well() || !answer.is_object()) {
    throw EnvironmentError(fmt::format("{} {}{}{}; --python names the interpreter", source.python,
                                       output.end, last.empty() ? "" : ": ", last));
  }
  if (answer.contains("unable")) throw EnvironmentError(answer["unable"].get<std::string>());
  return answer;
}

bool is_stopped(const PackageSource& source) {
  return source.stop_requested && source.stop_requested();
}

}  // namespace

std::vector<std::string> released_versions(const PackageSource& source) {
  const Json answer =
      answer_of(source, {"versions", source.package, source.with_pre_releases ? "pre" : "final"});
  if (answer.contains("absent")) {
    throw ConfigError(fmt::format("--package: {}", answer["absent"].get<std::string>()));
  }
  return answer.at("versions").get<std::vector<std::string>>();
}

std::vector<std::string> versions_in(const std::string& range,
                                     const std::vector<std::string>& released,
                                     const std::string& package) {
  const std::size_t dots = range.find("..");
  if (dots == std::string::npos) {
    throw ConfigError(fmt::format("--versions {}: takes two versions, FIRST..LAST", range));
  }
  const auto found = [&](const std::string& version) {
    const auto at = std::ranges::find(released, version);
    if (at != released.end()) return at;
    throw ConfigError(fmt::format("--versions {}: pip finds no {} {}; there are {} to {}", range,
                                  package, version, released.front(), released.back()));
  };
  const auto first = found(range.substr(0, dots)), last = found(range.substr(dots + 2));
  if (first == last) {
    throw ConfigError(fmt::format("--versions {}: a search takes two versions", range));
  }
  if (first > last) {
    throw ConfigError(fmt::format("--versions {}: {} is older than {}; the older one comes first",
                                  range, *last, *first));
  }
  return {first, last + 1};
}

PackageEnvironment environment_with(const PackageSource& source, const std::string& version) {
  try {
    const Json answer = answer_of(source, {"make", source.package, version});
    if (answer.contains("absent")) return {"", answer["absent"].get<std::string>()};
    return {answer.at("python").get<std::string>(), ""};
  } catch (const EnvironmentError&) {
    if (is_stopped(source)) return {"", "stopped"};
    throw;
  }
}

}  // namespace attnbench
