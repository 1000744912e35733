// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "lib/gate/text_options.h"
#include "lib/gate/watch.h"

namespace attnbench {

/// A table of all series with their changes and gaps, and a plot of each that changed.
void write_watch_terminal(const WatchReport& report, const TextOptions& options, std::ostream& out);
/// The same for machines, every value with it.
void write_watch_json(const WatchReport& report, std::ostream& out);

}  // namespace attnbench
