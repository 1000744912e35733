// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/twins.h"

#include <algorithm>

namespace attnbench {
namespace {

constexpr std::string_view kMark = "#2";

}  // namespace

std::vector<const Registry::Entry*> Twins::beside(std::span<const Registry::Entry* const> entries) {
  std::vector<const Registry::Entry*> all;
  for (const Registry::Entry* entry : entries) {
    all.push_back(entry);
    if (!entry->make) continue;
    twins_.push_back(*entry);
    twins_.back().info.name += kMark;
    all.push_back(&twins_.back());
  }
  return all;
}

std::string_view registered_name(std::string_view name) {
  if (name.ends_with(kMark)) name.remove_suffix(kMark.size());
  return name;
}

void compare_twin(std::span<Record> records) {
  if (records.empty()) return;
  Record& twin = records.back();
  const std::string_view name = registered_name(twin.backend);
  if (name == twin.backend || !twin.claims_speed()) return;
  const auto first = std::ranges::find_if(records, [&](const Record& r) {
    return r.backend == name && r.case_id == twin.case_id && r.cache == twin.cache &&
           r.launch == twin.launch;
  });
  if (first == records.end() || !first->claims_speed()) return;
  twin.aa = paired_ratio(first->timing.blocks, twin.timing.blocks);
}

}  // namespace attnbench
