// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/testing/fields_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lib/result/record_fields.h"
#include "lib/result/record_text.h"
#include "lib/view/table.h"

namespace attnbench {
namespace {

std::string with_dots(std::string path) {
  std::ranges::replace(path, '/', '.');
  return path;
}

std::string code(const std::string& text) { return text.empty() ? "" : '`' + text + '`'; }

}  // namespace

std::string fields_table() {
  std::string table = "| CSV | JSON | unit | |\n|---|---|---|---|\n";
  std::set<std::string> described;
  for (const RecordField& field : record_fields()) {
    for (const RecordGroup* group : groups_around(field.path)) {
      if (!described.insert(group->path).second) continue;
      table += fmt::format("| | {} | | {} |\n", code(with_dots(group->path)),
                           markdown_cell(group->description));
    }
    table += fmt::format("| {} | {} | {} | {} |\n", code(field.column),
                         field.path == field.column ? "" : code(with_dots(field.path)), field.unit,
                         markdown_cell(field.description));
  }
  return table;
}

}  // namespace attnbench
