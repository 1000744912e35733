// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/step_part.h"

namespace attnbench {

std::string step_suffix(StepPart part) {
  if (part == StepPart::kAttention) return {};
  std::string suffix = " ";
  return suffix.append(to_string(part));
}

std::string list_of_parts(std::string_view StepPartRow::*text, std::string_view before_last) {
  std::string list;
  for (const StepPartRow& row : kStepPartRows) {
    if (!list.empty()) list += &row == &kStepPartRows.back() ? before_last : ", ";
    list += row.*text;
  }
  return list;
}

}  // namespace attnbench
