// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/format_choice.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Whether a backend supports a case, all parts of a composed one, and the layout of the cache that
/// it gets, of a composed one that of its decodes.
[[nodiscard]] FormatChoice choose_format_of(const Backend& backend, const Case& c);

/// A refusal of a part as one of the whole step: "expanded prompts: …".
[[nodiscard]] FormatChoice of_part(FormatChoice refusal, const Case& part);

}  // namespace attnbench
