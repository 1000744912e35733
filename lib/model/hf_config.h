// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lib/model/model_geometry.h"

namespace attnbench {

/// Reads a Hugging Face config.json. What it leaves out takes its model type's default in
/// transformers (data/hf_model_types.yaml); a type that is unknown there has to state all, and is
/// refused with the list of what is missing. A key that is not read and not known to leave
/// attention as it is (data/hf_known_keys.yaml) is refused; the model's notes tell which were in
/// `ignored`. Throws ConfigError naming the file and the field.
[[nodiscard]] ModelGeometry model_from_hf_config(const std::string& path,
                                                 std::span<const std::string> ignored = {});

/// The same of a config's text; `name` stands for the path.
[[nodiscard]] ModelGeometry parse_hf_config(std::string_view text, const std::string& name,
                                            std::span<const std::string> ignored = {});

}  // namespace attnbench
