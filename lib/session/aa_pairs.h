// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string_view>
#include <vector>

#include "lib/backend/registry.h"

namespace attnbench {

/// A/A: every backend takes part a second time under another name, "cpu_flash#2", with its own plan
/// and workspace. A difference between backends as small as that between the two is noise.
class AaPairs {
 public:
  /// The second of each present backend follows it; absent ones have none. The entries must outlive
  /// this object, and this object its result.
  [[nodiscard]] std::vector<const Registry::Entry*> of(
      std::span<const Registry::Entry* const> entries);

 private:
  std::deque<Registry::Entry> seconds_;
};

/// The backend's registered name, without the mark of the second of a pair.
[[nodiscard]] std::string_view registered_name(std::string_view name);

}  // namespace attnbench
