// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cheating_plugin/cheats.h"

namespace cheats {

/// Right in the check. Later it leaves one row out in a few of its runs: a sample whose rows are
/// compared is hardly ever one of them.
void leaves_a_row_now_and_then(Planned& planned) {
  const bool leaves = looks_timed(planned) && planned.runs % 13 == 5;
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int head = 0; head < planned.heads(); ++head) {
      if (leaves && token == 0 && head == 1) continue;
      attend(planned, token, head);
    }
  }
}

}  // namespace cheats
