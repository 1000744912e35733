// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/named_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/word_hints.h"
#include "lib/model/hf_config.h"

namespace attnbench {

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

CacheFormat kv_format_of(const std::string& word) {
  CacheFormat format;
  const bool of_blocks = word == kBlockRows;
  format.dtype = of_blocks ? DType::kE4M3 : *dtype_from_string(word);
  if (of_blocks) format.scales = KvScales::kBlock;
  return format;
}

}  // namespace attnbench
