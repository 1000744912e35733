// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "lib/backend/backend.h"

namespace attnbench {

/// Whether a backend takes a problem, and how the cache lies for it.
struct FormatChoice {
  Support support = Support::yes();
  KvLayout layout = KvLayout::kNhd;

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(support); }
};

/// The first of the backend's formats() in which it supports the problem, whose own layout is not
/// looked at; `asked` leaves that one alone. Refuses with the format's name, or as the backend does
/// in the layout that it likes best.
[[nodiscard]] FormatChoice choose_format(const Backend& backend, Problem problem,
                                         std::optional<KvLayout> asked);

}  // namespace attnbench
