// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/record_json.h"

#include <string>

#include "lib/report/record_fields.h"

namespace attnbench {
namespace {

/// What stands for the field: itself, or the outermost object around it that is null.
std::string path_that_exists(const RecordField& field, const Record& record) {
  for (const RecordGroup* group : groups_around(field.path)) {
    if (group->exists != nullptr && !group->exists(record)) return group->path;
  }
  return field.path;
}

}  // namespace

Json record_json(const Record& record) {
  Json json;
  for (const RecordField& field : record_fields()) {
    json[Json::json_pointer('/' + path_that_exists(field, record))] = value_of(field, record);
  }
  return json;
}

}  // namespace attnbench
