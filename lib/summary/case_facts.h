// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/cost/cost.h"
#include "lib/result/record.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// What a table says about a case before its rows: id, requests, tokens, what is unusual about its
/// layer and cache, bytes and FLOPs. Empty ones say nothing. The last two are of the GPU that takes
/// part.
[[nodiscard]] std::vector<std::string> case_facts(const Case& c, const Cost& cost,
                                                  int multiprocessors,
                                                  std::int64_t last_level_cache_bytes);

/// Backends whose first plan and run of a case took a second or more, which is what users of a
/// library that compiles its kernels wait for once: "cudnn 1.31 s, flashinfer 42 s". Empty where
/// there are none.
[[nodiscard]] std::string first_use_text(std::span<const Record> of_case);

}  // namespace attnbench
