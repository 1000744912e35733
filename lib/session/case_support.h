// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "lib/backend/format_choice.h"
#include "lib/backend/numerics.h"
#include "lib/scenario/case.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// Whether a backend supports a case, all parts of a composed one, and the layout of the cache that
/// it gets, of a composed one that of its decodes.
[[nodiscard]] FormatChoice choose_format_of(const Backend& backend, const Case& c);

/// Why a backend that declares these roundings, one a step of the case, is refused by
/// VerifyConfig::at_most; empty where it is not.
[[nodiscard]] std::string refusal_by_at_most(const VerifyConfig& config,
                                             std::span<const Numerics> declared);

/// A refusal of a part as one of the whole step: "expanded prompts: …".
[[nodiscard]] FormatChoice for_part(FormatChoice refusal, const Case& part);

}  // namespace attnbench
