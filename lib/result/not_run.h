// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// Whether the cell was not tried: unsupported or skipped. A table for people has no row of it.
[[nodiscard]] bool was_not_run(const Record& record);

/// The cells of one case that were not tried, by reason: "torch_native, cpu_flash (no CUDA graph on
/// a CPU) · mla (no latent cache)". A backend with other cells that were tried is named with the
/// launch mode or the cache state: "cascade/g", "cascade cold/g". Empty: all were tried.
[[nodiscard]] std::string not_run_text(std::span<const Record> of_case);

}  // namespace attnbench
