// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/own_program.h"

#include <filesystem>

namespace attnbench {

std::string own_program() {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? "attnbench" : path.string();
}

}  // namespace attnbench
