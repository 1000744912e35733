// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace attnbench {

/// The file that this process runs, "attnbench" where the system does not say.
[[nodiscard]] std::string own_program();

}  // namespace attnbench
