// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace attnbench {

/// The path as a shell in any folder would type it; as it is where the folder that it starts from
/// has been removed.
[[nodiscard]] std::string lasting_path(const std::string& path);

}  // namespace attnbench
