// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace attnbench {

/// The bytes of a regular file of at most `limit` bytes. A folder, a pipe, a device, a larger file
/// and a path with a NUL in it are each a ConfigError that names the path; nothing waits for a
/// writer and nothing reads without end.
[[nodiscard]] std::string read_regular_file(const std::string& path, std::size_t limit);

}  // namespace attnbench
