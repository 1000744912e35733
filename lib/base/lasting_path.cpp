// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/lasting_path.h"

#include <filesystem>
#include <system_error>

namespace attnbench {

std::string lasting_path(const std::string& path) {
  std::error_code no_folder;
  const std::filesystem::path whole = std::filesystem::absolute(path, no_folder);
  return no_folder ? path : whole.lexically_normal().string();
}

}  // namespace attnbench
