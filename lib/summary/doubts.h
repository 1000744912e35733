// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/result/record.h"

namespace attnbench {

/// What speaks against the figures of a run, a sentence each: "other programs kept 1.4 of 2
/// processors busy", "3 figures are of a device that slowed down (throttled)", "2 cells are
/// MISTRUSTED: zeros would pass …". None where nothing does.
[[nodiscard]] std::vector<std::string> doubts_of(const RunResult& run);

/// Where most figures are noisy or ran into their timeout: how many, what kept them so, as far as
/// it is known, and which options help. Where most have converged, disturbance_text(run) only.
/// `precision`: asked for.
[[nodiscard]] std::string convergence_advice(const RunResult& run, double precision);

/// That of a run with figures of processors; a GPU's timer does not wait for these.
[[nodiscard]] std::string disturbance_text(const RunResult& run);

/// "other programs kept 1.4 of 2 processors busy"; empty where they did not disturb, or nobody
/// knows.
[[nodiscard]] std::string disturbance_text(const OtherPrograms& others);

/// "2 other processes (3.1 GB) had the GPU open in 4 of 12 figures"; empty where none had, or
/// nobody knows.
[[nodiscard]] std::string sharers_text(const RunResult& run);

}  // namespace attnbench
