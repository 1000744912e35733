// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lib/config/json_fields.h"
#include "lib/model/hf_model_types.h"

namespace attnbench {

/// Throws a ConfigError that names every key of `config` that was not read, that says something
/// (JsonFields::says_none) and that is not known to leave attention as it is, except `ignored`
/// ones. Call it when all else was read. An ignored key that the config does not have is an error.
void refuse_unknown_keys(const JsonFields& config, const HfModelType& type,
                         std::span<const std::string> ignored);

}  // namespace attnbench
