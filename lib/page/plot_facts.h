// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

// Where a record stands on a plot.

/// What stays the same along a curve of latency over length: mix and swept values, those that set
/// a length left out: "decode", "decode · count 64".
[[nodiscard]] std::string workload_of(const Record& record);

/// Keys of a request, mean over the batch; none for a batch without requests.
[[nodiscard]] std::optional<double> mean_kv_len(const Record& record);

/// FLOPs over distinct bytes, the x of a roofline plot; none where either is 0, as of a step that
/// only writes its keys.
[[nodiscard]] std::optional<double> arithmetic_intensity(const Record& record);

/// The ceilings of the record's own device.
[[nodiscard]] const Ceilings& ceilings_of(const RunResult& run, const Record& record);

}  // namespace attnbench
