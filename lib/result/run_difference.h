// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/result/record.h"

namespace attnbench {

// What keeps the figures of two runs from standing beside each other, as one line that names both
// sides ("driver 580.159.03 and 590.10"); empty: nothing.

/// The host, its device, its driver, the threads in use.
[[nodiscard]] std::string machine_difference(const RunResult& a, const RunResult& b);
/// The program: its commit, compiler and flags.
[[nodiscard]] std::string binary_difference(const RunResult& a, const RunResult& b);
/// Two builds of a plug-in: files of one name, whatever their folders.
[[nodiscard]] std::string plugin_difference(const RunResult& a, const RunResult& b);
/// A scenario of one name in both: its contents, seed, the options of the command line, or a
/// config.json that it names.
[[nodiscard]] std::string scenario_difference(const RunResult& a, const RunResult& b);

}  // namespace attnbench
