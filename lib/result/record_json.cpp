// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/result/record_fields.h"

namespace attnbench {
namespace {

/// What stands for the field: itself, or the outermost object around it that is null.
std::string path_that_exists(const RecordField& field, const Record& record) {
  for (const RecordGroup* group : groups_around(field.path)) {
    if (group->exists != nullptr && !group->exists(record)) return group->path;
  }
  return field.path;
}

const std::set<std::string_view>& known_paths() {
  static const std::set<std::string_view> paths = [] {
    std::set<std::string_view> all;
    for (const RecordField& field : record_fields()) all.insert(field.path);
    return all;
  }();
  return paths;
}

[[noreturn]] void unknown_field(const std::string& path) {
  const std::vector<std::string_view> known(known_paths().begin(), known_paths().end());
  const std::string likely = likely_names(path, known);
  throw ConfigError(fmt::format("unknown field '{}'{}", path,
                                likely.empty() ? "" : "; did you mean " + likely + "?"));
}

/// Every member must be a field, or a group of fields.
void expect_known_members(const Json& object, const std::string& prefix) {
  for (const auto& [key, value] : object.items()) {
    const std::string path = prefix + key;
    if (known_paths().contains(path)) continue;
    const auto inside = known_paths().lower_bound(path + '/');
    if (inside == known_paths().end() || !inside->starts_with(path + '/')) unknown_field(path);
    if (value.is_object()) {
      expect_known_members(value, path + '/');
    } else if (!value.is_null()) {
      throw ConfigError(fmt::format("{} is no object", path));
    }
  }
}

/// The field's value, null where an object around it is null. Null pointer: it is missing.
const Json* find(const Json& json, const std::string& path) {
  const Json* at = &json;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const auto found = at->find(path.substr(begin, end - begin));
    if (found == at->end()) return nullptr;
    at = &*found;
    if (at->is_null()) return at;
    begin = end + 1;
  }
  return at;
}

/// As the field's reader takes it.
std::string text_of(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  return value.dump();
}

bool takes_null(const RecordField& field) {
  const auto type = field.access.type.find("type");
  return type != field.access.type.end() && type->is_array() &&
         std::ranges::find(*type, "null") != type->end();
}

/// What a record cannot do without: which cell it is of, and how that ended.
constexpr std::array<std::string_view, 6> kNeeded = {"case",   "backend", "cache",
                                                     "launch", "status",  "verdict"};

void read_field(const RecordField& field, const Json& value, Record& record) {
  try {
    field.access.read(record, text_of(value));
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("{}: {}", field.path, error.diagnostics().front().message));
  }
}

}  // namespace

Json record_json(const Record& record) {
  Json json;
  for (const RecordField& field : record_fields()) {
    json[Json::json_pointer('/' + path_that_exists(field, record))] = value_of(field, record);
  }
  return json;
}

Record record_from_json(const Json& json) {
  if (!json.is_object()) throw ConfigError("a record that is no object");
  expect_known_members(json, "");
  Record record;
  std::vector<const RecordField*> nulls;
  for (const RecordField& field : record_fields()) {
    const Json* const value = find(json, field.path);
    if (value == nullptr) {
      if (std::ranges::find(kNeeded, field.path) == kNeeded.end()) continue;
      throw ConfigError(fmt::format("{} is missing", field.path));
    }
    if (value->is_null()) {
      nulls.push_back(&field);
    } else {
      read_field(field, *value, record);
    }
  }
  for (const RecordField* field : nulls) {  // only now is it known which fields exist
    if (value_of(*field, record).is_null()) continue;
    if (!takes_null(*field)) throw ConfigError(fmt::format("{} is null", field->path));
    read_field(*field, "nan", record);
  }
  return record;
}

std::string json_line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace attnbench
