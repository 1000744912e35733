// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/engine_options.h"

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/word_hints.h"

namespace attnbench {

EngineDevice engine_device_named(const std::string& name) {
  if (const EngineDevice* device = find_engine_device(name)) return *device;
  std::vector<std::string_view> names;
  for (const EngineDevice& device : engine_devices()) names.push_back(device.name);
  throw ConfigError(
      fmt::format("--arch: unknown device '{}'   {}", name,
                  allowed_words_hint(std::span<const std::string_view>(names), name)));
}

}  // namespace attnbench
