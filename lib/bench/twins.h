// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/bench/record.h"

namespace attnbench {

/// A/A: every backend takes part a second time under another name, "cpu_flash#2", with its own plan
/// and workspace. A difference between backends as small as that between the two is noise.
class Twins {
 public:
  /// The twin of each present backend follows it; absent ones have none. The entries must outlive
  /// this object, and this object its result.
  [[nodiscard]] std::vector<const Registry::Entry*> beside(
      std::span<const Registry::Entry* const> entries);

 private:
  std::deque<Registry::Entry> twins_;
};

/// The backend's registered name, without the mark of a twin.
[[nodiscard]] std::string_view registered_name(std::string_view name);

/// Completes the last record, when it is a twin's, with what it measured over the cell that it is
/// the twin of: an earlier one of `records`.
void compare_twin(std::span<Record> records);

}  // namespace attnbench
