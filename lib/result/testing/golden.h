// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace attnbench {

/// A file of the repository, as a whole.
[[nodiscard]] inline std::string repository_file(const std::string& path) {
  std::ifstream file(std::string(ATTNBENCH_SOURCE_DIR) + '/' + path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Expects a file of the repository to be `text`. After a deliberate change, run the test once with
/// ATTNBENCH_UPDATE_GOLDEN set, which writes the file, and read the difference.
inline void expect_golden(const std::string& path, const std::string& text) {
  if (std::getenv("ATTNBENCH_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(std::string(ATTNBENCH_SOURCE_DIR) + '/' + path) << text;
    return;
  }
  EXPECT_EQ(text, repository_file(path)) << path;
}

}  // namespace attnbench
