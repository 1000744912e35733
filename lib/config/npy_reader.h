// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attnbench {

/// The numbers of an .npy file (numpy/lib/format.py) that holds int32 in C order under `shape`, as
/// NumPy and `attnbench dump` write it. Throws ConfigError, which says what of the file is another:
/// "lists.npy holds int64 of shape [4, 1, 8], not int32 of shape [4, 1, 16]".
[[nodiscard]] std::vector<std::int32_t> read_npy_of_int32(const std::string& path,
                                                          std::span<const std::int64_t> shape);

}  // namespace attnbench
