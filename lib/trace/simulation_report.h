// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "lib/trace/simulator.h"
#include "lib/trace/trace.h"
#include "lib/trace/traced_step.h"

namespace attnbench {

void write_simulation_text(const Trace& trace, const SimulationTotals& totals, std::ostream& out);
void write_simulation_json(const Trace& trace, const SimulationTotals& totals, std::ostream& out);

/// The columns of write_step_row().
void write_step_header(std::ostream& out);
/// One row of CSV for a step.
void write_step_row(const TracedStep& step, std::ostream& out);

}  // namespace attnbench
