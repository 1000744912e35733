// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/named_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/system.h"
#include "lib/config/word_hints.h"
#include "lib/model/hf_config.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

/// Also what cannot be followed, a loop of links: only reading it says why.
bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type() != fs::file_type::not_found;
}

bool is_bare_name(const std::string& word) { return word.find('/') == std::string::npos; }

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  return names;
}

/// "did you mean 'scenarios/decode.yaml'?": of the scenarios beside the file, and for a bare name
/// of those in ./scenarios; empty where no name is near.
std::string nearest_scenario(const std::string& word) {
  std::vector<std::string> stems;
  std::map<std::string, std::string> paths;
  const auto add_folder = [&](const fs::path& folder) {
    for (const std::string& name : names_in(folder.empty() ? "." : folder.string())) {
      if (paths.emplace(name, (folder / (name + ".yaml")).string()).second) stems.push_back(name);
    }
  };
  add_folder(fs::path(word).parent_path());
  if (is_bare_name(word)) add_folder("scenarios");
  const std::string stem = fs::path(word).stem().string();
  const auto same = paths.find(stem);
  if (same != paths.end()) return fmt::format("did you mean '{}'?", same->second);
  std::string likely = likely_names(stem, stems);
  for (const auto& [name, path] : paths) {
    if (likely == fmt::format("'{}'", name)) likely = fmt::format("'{}'", path);
  }
  return likely.empty() ? "" : fmt::format("did you mean {}?", likely);
}

/// No more than a scenario file may have: what has more is no scenario.
std::string read_standard_input() {
  constexpr std::size_t kMost = std::size_t{16} << 20;
  std::string text(kMost + 1, '\0');
  std::cin.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::cin.gcount()));
  if (text.size() > kMost) throw ConfigError(fmt::format("stdin has more than {} bytes", kMost));
  return text;
}

}  // namespace

std::string installed_scenarios() {
  return (fs::path(self_path()).parent_path() / "../share/attnbench/scenarios")
      .lexically_normal()
      .string();
}

std::string find_scenario(const std::string& word, const std::string& installed) {
  if (word == kStandardInput || word.empty() || is_there(word) || !is_bare_name(word)) return word;
  for (const std::string& name : {word, word + ".yaml"}) {
    const fs::path path = fs::path(installed) / name;
    if (is_there(path)) return path.string();
  }
  return word;
}

Scenario read_scenario(const std::string& word, std::optional<std::uint64_t> seed) {
  if (word == kStandardInput) {
    return parse_scenario(read_standard_input(), "stdin", seed);
  }
  const std::string path = find_scenario(word);
  if (!is_there(path) && is_bare_name(path)) {
    const std::vector<std::string> names = names_in(installed_scenarios());
    if (!names.empty()) {
      throw ConfigError({Diagnostic{{},
                                    1,
                                    fmt::format("there is no scenario '{}'", word),
                                    allowed_words_hint(names, word, "installed: "),
                                    {}}});
    }
  }
  if (!is_there(path)) {
    throw ConfigError({Diagnostic{{},
                                  1,
                                  fmt::format("cannot read {}: there is no such file", path),
                                  nearest_scenario(path),
                                  {}}});
  }
  return load_scenario(path, seed);
}

ModelGeometry resolve_model(const std::string& name, const std::string& option) {
  if (name.ends_with(".json")) return model_from_hf_config(name);
  if (const ModelGeometry* preset = find_model(name)) return *preset;
  const std::vector<std::string> names = model_names();
  throw ConfigError(fmt::format(
      "{}unknown model '{}'   {}", option, name,
      allowed_words_hint(std::span<const std::string>(names), name, "config.json, or presets: ")));
}

EngineDevice engine_device_named(const std::string& name) {
  if (const EngineDevice* device = find_engine_device(name)) return *device;
  std::vector<std::string_view> names;
  for (const EngineDevice& device : engine_devices()) names.push_back(device.name);
  throw ConfigError(
      fmt::format("--arch: unknown device '{}'   {}", name,
                  allowed_words_hint(std::span<const std::string_view>(names), name)));
}

void set_engine_version(const std::string& version, EngineSetup& setup) {
  std::string known;
  for (const Engine engine : kEngines) {
    if (const std::optional<std::size_t> index = find_engine_version(engine, version)) {
      setup.version[static_cast<std::size_t>(engine)] = *index;
      return;
    }
    known += fmt::format("{}{} {}", known.empty() ? "" : "; ", to_string(engine),
                         fmt::join(engine_versions(engine), ", "));
  }
  throw ConfigError(
      fmt::format("--engine-version: no engine has the version '{}'   known: {}", version, known));
}

CacheFormat kv_format_of(const std::string& word, const ModelGeometry& model) {
  CacheFormat format;
  const bool of_blocks = word == kDsMlaRows;
  format.dtype = of_blocks ? DType::kE4M3 : *dtype_from_string(word);
  if (of_blocks) format.scales = ds_mla_scales(model);
  return format;
}

}  // namespace attnbench
