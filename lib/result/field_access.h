// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/result/record.h"
#include "lib/view/json.h"

namespace attnbench {

/// How a field is taken out of a record and put back.
struct FieldAccess {
  Json (*value)(const Record&);
  void (*read)(Record&, const std::string&);  ///< of the CSV; throws ConfigError on a bad value
  Json type;                                  ///< what a JSON schema says of the value
  std::string absent = {};                    ///< what the CSV has for null
};

// What the CSV says, into a member. Throw ConfigError.
void from_text(const std::string& text, std::string& value);
void from_text(const std::string& text, int& value);
void from_text(const std::string& text, std::int64_t& value);
void from_text(const std::string& text, double& value);
void from_text(const std::string& text, bool& value);

template <class T>
[[nodiscard]] Json type_of() {
  if constexpr (std::is_same_v<T, double>) return {{"type", {"number", "null"}}};
  if constexpr (std::is_same_v<T, bool>) return {{"type", "boolean"}};
  if constexpr (std::is_same_v<T, std::string>) return {{"type", "string"}};
  return {{"type", "integer"}, {"minimum", 0}};
}

/// A member of a member … of a record: member<&Record::timing, &CellTiming::median_us>().
template <auto... kMembers>
[[nodiscard]] FieldAccess member() {
  using Member = std::remove_cvref_t<decltype((Record().*....*kMembers))>;
  return {[](const Record& r) { return Json((r.*....*kMembers)); },
          [](Record& r, const std::string& text) { from_text(text, (r.*....*kMembers)); },
          type_of<Member>()};
}

/// A member that is one of the enumerators `kAll`, by its word.
template <const auto& kAll, auto... kMembers>
[[nodiscard]] FieldAccess word() {
  Json words = Json::array();
  for (const auto each : kAll) words.push_back(to_string(each));
  return {[](const Record& r) { return Json(to_string((r.*....*kMembers))); },
          [](Record& r, const std::string& text) {
            for (const auto each : kAll) {
              if (to_string(each) != text) continue;
              (r.*....*kMembers) = each;
              return;
            }
            throw ConfigError(fmt::format("unknown word '{}'", text));
          },
          {{"enum", std::move(words)}}};
}

/// A property that is -1 not tested, 0 no, 1 yes, as the CSV has it; in JSON null, false, true.
template <auto... kMembers>
[[nodiscard]] FieldAccess tested() {
  FieldAccess access = member<kMembers...>();
  access.value = [](const Record& r) {
    const int property = (r.*....*kMembers);
    return property < 0 ? Json(nullptr) : Json(property == 1);
  };
  access.type = {{"type", {"boolean", "null"}}};
  access.absent = "-1";
  return access;
}

/// A figure that a reader computes again from others.
[[nodiscard]] FieldAccess computed(Json (*value)(const Record&));

/// Restricts the schema's type to these words.
[[nodiscard]] FieldAccess of_words(FieldAccess access, std::vector<std::string> words);

/// Restricts the schema's type to integers of at least `minimum`.
[[nodiscard]] FieldAccess at_least(int minimum, FieldAccess access);

// Fields that are more than one member of a record.

/// The status of the timing, or "refused".
[[nodiscard]] FieldAccess graph_n_status_access();
/// "power_cap thermal".
[[nodiscard]] FieldAccess clock_events_access();
/// [round, microseconds] of each block, in the order of their rounds; JSON alone has it.
[[nodiscard]] FieldAccess blocks_access();
[[nodiscard]] FieldAccess graph_n_blocks_access();
/// Swept keys with their values as text, in the sweep's order.
[[nodiscard]] FieldAccess sweep_access();
/// Those of them that are numbers; computed.
[[nodiscard]] FieldAccess swept_numbers_access();
/// The requests by entry of the batch; JSON alone has them.
[[nodiscard]] FieldAccess groups_access();

// The fields that together are a record's outcome, to be read in this order. What no outcome can be
// (a time of a cell that was skipped) is a ConfigError.

[[nodiscard]] FieldAccess reason_access();
[[nodiscard]] FieldAccess verdict_access();
/// The median time, which a cell has that was timed.
[[nodiscard]] FieldAccess median_access();
[[nodiscard]] FieldAccess impossible_access();

}  // namespace attnbench
