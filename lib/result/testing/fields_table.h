// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace attnbench {

/// The table of results/README.md: every field of a record, in Markdown, with its heading.
[[nodiscard]] std::string fields_table();

}  // namespace attnbench
