// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/testing/record_schema.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "lib/result/record_fields.h"

namespace attnbench {
namespace {

using Versions = decltype(kSchemaVersions)::const_iterator;

/// The version that brought the field.
Versions since(const RecordField& field) {
  return std::ranges::find_if(kSchemaVersions, [&](const SchemaVersion& version) {
    return field.since != nullptr ? std::string_view(version.name) == field.since
                                  : field.place <= version.columns;
  });
}

Versions since(const RecordGroup& group) {
  return since(*std::ranges::find_if(record_fields(), [&](const RecordField& field) {
    return field.path.starts_with(group.path + '/');
  }));
}

/// Adds a property to an object that has been there since `outer`. A file that is older than the
/// property lacks it.
Json& add(Json& object, Versions outer, const std::string& path, Json property,
          std::string description, Versions from) {
  const std::string name = path.substr(path.rfind('/') + 1);
  if (from == outer) {
    object["required"].push_back(name);
  } else {
    description += std::string(". Since ") + from->name;
  }
  property["description"] = std::move(description);
  return object["properties"][name] = std::move(property);
}

Json empty_object(bool may_be_null) {
  return {{"type", may_be_null ? Json{"object", "null"} : Json("object")},
          {"properties", Json::object()},
          {"required", Json::array()},
          {"additionalProperties", false}};
}

Json property_of(const RecordField& field) {
  Json property = field.access.type;
  if (field.exists != nullptr && property.contains("enum")) property["enum"].push_back(nullptr);
  if (field.exists != nullptr && property.contains("type") && property["type"].is_string()) {
    property["type"] = {property["type"], "null"};
  }
  if (!field.unit.empty()) property["unit"] = field.unit;
  return property;
}

}  // namespace

Json record_schema() {
  Json record = empty_object(false);
  for (const RecordField& field : record_fields()) {
    Json* object = &record;
    Versions from = kSchemaVersions.begin();
    for (const RecordGroup* group : groups_around(field.path)) {
      const std::string name = group->path.substr(group->path.rfind('/') + 1);
      Json& properties = (*object)["properties"];
      if (!properties.contains(name)) {
        add(*object, from, group->path, empty_object(group->exists != nullptr), group->description,
            since(*group));
      }
      object = &properties[name];
      from = since(*group);
    }
    add(*object, from, field.path, property_of(field), field.description, since(field));
  }
  return record;
}

}  // namespace attnbench
