// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/testing/record_schema.h"

#include <string>
#include <utility>

#include "lib/result/record_fields.h"

namespace attnbench {
namespace {

/// Adds a property to an object.
Json& add(Json& object, const std::string& path, Json property, const std::string& description) {
  const std::string name = path.substr(path.rfind('/') + 1);
  object["required"].push_back(name);
  property["description"] = description;
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
    for (const RecordGroup* group : groups_around(field.path)) {
      const std::string name = group->path.substr(group->path.rfind('/') + 1);
      Json& properties = (*object)["properties"];
      if (!properties.contains(name)) {
        add(*object, group->path, empty_object(group->exists != nullptr), group->description);
      }
      object = &properties[name];
    }
    add(*object, field.path, property_of(field), field.description);
  }
  return record;
}

}  // namespace attnbench
