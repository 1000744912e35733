// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// Of a wrong cell the part of its reason that a person reads first: the mistake where one is
/// known, then what was exceeded and where: "one key too few (bound exceeded 12x on fill tag at
/// request 1, head 0, query 0, dim 3)". The values, the keys that the row sees, what else was found
/// and the same fault in timed samples are left out. Of any other cell the whole reason.
[[nodiscard]] std::string brief_reason(const Record& record);

/// The table's explanation of a line that has no more than that.
inline constexpr const char* kBriefLegend =
    "INCORRECT: one line here; values, visible keys and timed samples are in --wide, in result "
    "files and on the page";

/// Whether it leaves something out.
[[nodiscard]] bool has_brief_reason(const Record& record);

}  // namespace attnbench
