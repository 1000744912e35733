// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/system.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <system_error>

#include "lib/base/error.h"

namespace attnbench {

namespace fs = std::filesystem;

std::string self_path() {
  std::error_code failed;
  const fs::path path = fs::read_symlink("/proc/self/exe", failed);
  return failed ? "attnbench" : path.string();
}

std::vector<std::string> environment_list(const char* variable) {
  std::vector<std::string> words;
  const char* const list = std::getenv(variable);
  std::istringstream text(list == nullptr ? "" : list);
  for (std::string word; std::getline(text, word, ':');) {
    if (!word.empty()) words.push_back(std::move(word));
  }
  return words;
}

TemporaryFolder::TemporaryFolder(const std::string& purpose)
    : path_(fs::temp_directory_path() / fmt::format("attnbench-{}-XXXXXX", purpose)) {
  if (mkdtemp(path_.data()) == nullptr) {
    throw EnvironmentError(fmt::format("cannot make a folder like {}", path_));
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string lasting_path(const std::string& path) {
  std::error_code no_folder;
  const std::filesystem::path whole = std::filesystem::absolute(path, no_folder);
  return no_folder ? path : whole.lexically_normal().string();
}

}  // namespace attnbench
