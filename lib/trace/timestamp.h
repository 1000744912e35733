// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace attnbench {

/// Seconds since 1970 of "2023-11-16 18:15:46.6805900", with or without a fraction, and with "Z" or
/// an offset from UTC such as "+00:00" behind it; nullopt: it is no such time.
[[nodiscard]] std::optional<double> timestamp_s(std::string_view text);

}  // namespace attnbench
