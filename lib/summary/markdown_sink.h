// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "lib/result/record.h"

namespace attnbench {

/// Tables for people who read a pull request: a run as Markdown.
void write_markdown(const RunResult& run, std::ostream& out);

}  // namespace attnbench
