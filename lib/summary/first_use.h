// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lib/result/record.h"

namespace attnbench {

/// Backends whose first plan and run of a case took a second or more, which is what users of a
/// library that compiles its kernels wait for once: "cudnn 1.31 s, flashinfer 42 s". Empty where
/// there are none.
[[nodiscard]] std::string first_use_text(std::span<const Record> of_case);

}  // namespace attnbench
