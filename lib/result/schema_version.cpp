// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/schema_version.h"

#include <fmt/format.h>

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "lib/base/error.h"
#include "lib/result/record_fields.h"

namespace attnbench {
namespace {

/// The first two numbers of "1.8.0"; {0, 0} of anything else.
std::pair<int, int> parts_of(std::string_view version) {
  std::pair<int, int> parts;
  const char* const end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, parts.first);
  if (first.ec != std::errc{} || first.ptr == end || *first.ptr != '.') return {};
  if (std::from_chars(first.ptr + 1, end, parts.second).ec != std::errc{}) return {};
  return parts;
}

}  // namespace

std::size_t columns_of(const Json& version) {
  const std::string found = version.is_string() ? version.get<std::string>() : version.dump();
  for (const SchemaVersion& known : kSchemaVersions) {
    if (found == known.name) return known.columns;
  }
  const char* const newest = kSchemaVersions.back().name;
  if (parts_of(found) > parts_of(newest)) {
    throw EnvironmentError(fmt::format(
        "written by a newer attnbench (schema {}); this one reads up to {}", found, newest));
  }
  throw ConfigError(fmt::format("no results of attnbench: its schema_version is {}", found));
}

}  // namespace attnbench
