// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/pack_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "lib/base/error.h"
#include "lib/base/lasting_path.h"
#include "lib/base/system.h"
#include "lib/config/word_hints.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPacks = "packs";
constexpr std::string_view kEnding = "_pack.py";

std::string whole_path(const fs::path& path) { return lasting_path(path.string()); }

/// "torch" where the folder has a file torch_pack.py.
std::vector<std::string> pack_names(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    std::string file = entry.path().filename().string();
    if (!file.ends_with(kEnding)) continue;
    file.resize(file.size() - kEnding.size());
    names.push_back(std::move(file));
  }
  std::ranges::sort(names);
  return names;
}

std::string file_of(const fs::path& folder, const std::string& name) {
  return whole_path(folder / (name + std::string(kEnding)));
}

std::vector<std::string> all_of(const fs::path& folder) {
  std::vector<std::string> files;
  for (const std::string& name : pack_names(folder)) files.push_back(file_of(folder, name));
  if (files.empty()) {
    throw ConfigError(
        fmt::format("plug-in {}: no file in this folder ends with {}", folder.string(), kEnding));
  }
  return files;
}

std::string pack_file(const fs::path& folder, const std::string& name) {
  const std::vector<std::string> names = pack_names(folder);
  if (std::ranges::find(names, name) != names.end()) return file_of(folder, name);
  throw ConfigError({Diagnostic{{},
                                1,
                                fmt::format("there is no pack '{}'", name),
                                allowed_words_hint(names, name, "packs: "),
                                {}}});
}

}  // namespace

std::string packs_folder() {
  const fs::path installed = fs::path(self_path()).parent_path() / "../share/attnbench" / kPacks;
  std::error_code ignored;
  const fs::path tree = fs::path(ATTNBENCH_SOURCE_DIR) / "backends" / kPacks;
  return whole_path(fs::is_directory(installed, ignored) ? installed : tree);
}

std::vector<std::string> plugin_files(const std::string& word, const std::string& packs) {
  std::error_code ignored;
  if (fs::is_directory(word, ignored)) return all_of(word);
  if (word == kPacks) return all_of(packs);
  const fs::path path = word;
  if (path.parent_path() == kPacks && !path.has_extension() && !fs::exists(path, ignored)) {
    return {pack_file(packs, path.filename().string())};
  }
  return {whole_path(path)};
}

}  // namespace attnbench
