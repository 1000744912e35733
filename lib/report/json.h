// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace attnbench {

/// What is written keeps the order in which it was said.
using Json = nlohmann::ordered_json;

}  // namespace attnbench
