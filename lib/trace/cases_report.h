// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>

#include "lib/trace/trace.h"
#include "lib/trace/trace_cases.h"

namespace attnbench {

/// "2q512s8k_16q1s4k": the requests of a case as a scenario's batch string.
[[nodiscard]] std::string batch_string_of(const TraceCase& one);

/// The scenario, with a mix a case. Its weight stands in a comment, because the language has no key
/// for it. `model` is what the key `model` takes.
void write_cases_scenario(const Trace& trace, const TraceCases& all, const std::string& model,
                          std::ostream& out);
void write_cases_text(const Trace& trace, const TraceCases& all, std::ostream& out);
void write_cases_json(const Trace& trace, const TraceCases& all, std::ostream& out);

}  // namespace attnbench
