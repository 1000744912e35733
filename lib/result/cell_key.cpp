// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/cell_key.h"

#include <fmt/format.h>

namespace attnbench {

CellKey::CellKey(const Record& record)
    : scenario(record.scenario),
      case_id(record.case_id),
      backend(record.backend),
      step(record.step),
      cache(record.cache),
      launch(record.launch) {}

std::string to_string(const CellKey& key) {
  return fmt::format("{}: {}, {}, {}, {}, {}", key.scenario, key.case_id, key.backend,
                     to_string(key.step), to_string(key.cache), to_string(key.launch));
}

}  // namespace attnbench
