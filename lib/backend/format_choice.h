// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "lib/backend/backend.h"

namespace attnbench {

/// Whether a backend supports a problem, and the cache layout that it gets.
struct FormatChoice {
  Support support = Support::yes();
  KvLayout layout = KvLayout::kNhd;

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(support); }
};

/// The first of the backend's formats() in which it supports the problem. The problem's own layout
/// is ignored; `asked` restricts the choice to that layout, and ragged keys are a choice only where
/// they are asked for. A refusal names the format, or is the
/// backend's own for the first layout that was tried.
[[nodiscard]] FormatChoice choose_format(const Backend& backend, Problem problem,
                                         std::optional<KvLayout> asked);

}  // namespace attnbench
