// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace attnbench {

/// Objects keep the order in which their members were added.
using Json = nlohmann::ordered_json;

}  // namespace attnbench
