// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/model_named.h"

#include <fmt/format.h>

#include <span>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/word_hints.h"
#include "lib/model/hf_config.h"

namespace attnbench {

ModelGeometry model_named(const std::string& name, const std::string& option) {
  if (name.ends_with(".json")) return model_from_hf_config(name);
  if (const ModelGeometry* preset = find_model(name)) return *preset;
  const std::vector<std::string> names = model_names();
  throw ConfigError(fmt::format(
      "{}unknown model '{}'   {}", option, name,
      allowed_words_hint(std::span<const std::string>(names), name, "config.json, or presets: ")));
}

}  // namespace attnbench
