// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/fixture/fixture.h"

namespace attnbench {

/// A fixture beside that of a case, and what it was filled with last.
class ComparedFixture {
 public:
  ComparedFixture(const Case& c, Device& device, std::uint64_t placement_salt)
      : case_(c), fixture_(case_, device, placement_salt) {}

  [[nodiscard]] Fixture& fixture() { return fixture_; }
  /// As Fixture::fill(), and nothing where these are its contents still: all of its inputs are
  /// looked at, because the backend before may have changed them.
  void fill(Fill fill);

 private:
  Case case_;
  Fixture fixture_;
  std::optional<Fill> filled_;
};

/// The fixtures that backends run again for the same bits: the case on other pages, and batches of
/// some of its requests. They do not depend on the backend, so that all backends of a case on a
/// device that read one layout of its cache share them, as long as they take little memory.
class ComparedFixtures {
 public:
  /// Keeps those of up to `most_bytes` together; 0: none.
  ComparedFixtures(Device& device, std::int64_t most_bytes)
      : device_(&device), most_bytes_(most_bytes) {}

  /// Of `c`, which has the case's requests `requests`, on pages that `placement_salt` shuffles. Not
  /// filled, or filled by a backend before. Throws EnvironmentError where there is no memory for
  /// it, even when nothing is kept any more.
  [[nodiscard]] std::shared_ptr<ComparedFixture> of(const Case& c, std::uint64_t placement_salt,
                                                    const std::vector<std::size_t>& requests);
  /// Gives the memory back.
  void clear();

 private:
  using Key = std::pair<std::uint64_t, std::vector<std::size_t>>;

  Device* device_;
  std::int64_t most_bytes_;
  std::int64_t kept_bytes_ = 0;
  std::map<Key, std::shared_ptr<ComparedFixture>> kept_;
};

}  // namespace attnbench
