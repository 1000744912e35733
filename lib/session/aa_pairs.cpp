// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/aa_pairs.h"

namespace attnbench {
namespace {

constexpr std::string_view kMark = "#2";

}  // namespace

std::vector<const Registry::Entry*> AaPairs::of(std::span<const Registry::Entry* const> entries) {
  std::vector<const Registry::Entry*> all;
  for (const Registry::Entry* entry : entries) {
    all.push_back(entry);
    if (!entry->make) continue;
    seconds_.push_back(*entry);
    seconds_.back().info.name += kMark;
    all.push_back(&seconds_.back());
  }
  return all;
}

std::string_view registered_name(std::string_view name) {
  if (name.ends_with(kMark)) name.remove_suffix(kMark.size());
  return name;
}

}  // namespace attnbench
