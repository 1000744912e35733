// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "lib/view/json.h"

namespace attnbench {

/// JSON for the inside of <script type="application/json">: no character of it can end the element
/// or begin a comment, and all of it is ASCII. NaN and infinities are null; bytes that are no UTF-8
/// are replaced.
[[nodiscard]] std::string inline_json(const Json& json);

/// "'sha256-…'" of an inline script or style: how a Content-Security-Policy (W3C, level 3) names
/// it. `text` is everything between the tags.
[[nodiscard]] std::string policy_hash(std::string_view text);

}  // namespace attnbench
