// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/compared_fixtures.h"

#include "lib/base/error.h"

namespace attnbench {

void ComparedFixture::fill(Fill fill) {
  if (filled_ == fill && fixture_.changed_inputs().empty()) return;
  fixture_.fill(fill);
  filled_ = fill;
}

std::shared_ptr<ComparedFixture> ComparedFixtures::of(const Case& c, std::uint64_t placement_salt,
                                                      const std::vector<std::size_t>& requests) {
  const Key key{placement_salt, requests};
  if (const auto known = kept_.find(key); known != kept_.end()) {
    // Guards stay damaged: the next backend gets others.
    if (known->second->fixture().damaged_guards().empty()) return known->second;
    kept_bytes_ -= known->second->fixture().bytes();
    kept_.erase(known);
  }
  const auto make = [&] { return std::make_shared<ComparedFixture>(c, *device_, placement_salt); };
  std::shared_ptr<ComparedFixture> made;
  try {
    made = make();
  } catch (const EnvironmentError&) {
    if (kept_.empty()) throw;
    clear();
    made = make();
  }
  const std::int64_t bytes = made->fixture().bytes();
  if (kept_bytes_ + bytes <= most_bytes_) {
    kept_bytes_ += bytes;
    kept_.emplace(key, made);
  }
  return made;
}

void ComparedFixtures::clear() {
  kept_.clear();
  kept_bytes_ = 0;
}

}  // namespace attnbench
