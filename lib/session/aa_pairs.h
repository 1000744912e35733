// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "lib/backend/registry.h"

namespace attnbench {

/// A/A: every backend takes part a second time under a name of its own, "cpu_flash#2", with its own
/// plan and workspace. What the two of a pair differ by is what this machine cannot tell apart.
class AaPairs {
 public:
  /// The second of each present backend follows it; absent ones have none. The entries must outlive
  /// this object, and this object its result.
  [[nodiscard]] std::vector<const Registry::Entry*> of(
      std::span<const Registry::Entry* const> entries);

 private:
  std::deque<Registry::Entry> seconds_;
};

/// The name that the backend is registered under: without what marks the second of a pair.
[[nodiscard]] std::string_view registered_name(std::string_view name);

}  // namespace attnbench
