// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace attnbench {

/// SHA-256 of `bytes` (FIPS 180-4) as 64 lower-case hex digits. Records carry it, so that a table
/// can be traced to the very text of its scenario.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

/// Of a file's bytes; empty where it cannot be read.
[[nodiscard]] std::string sha256_of_file(const std::string& path);

}  // namespace attnbench
