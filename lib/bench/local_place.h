// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/device/device.h"
#include "lib/fixture/fixture.h"

namespace attnbench {

/// A case on a device: what the backends that run there share.
class LocalPlace {
 public:
  LocalPlace(const Case& c, Device& device) : case_(&c), device_(&device) {}

  /// Throws EnvironmentError; once that has happened, at once.
  void build();
  void build_again();
  /// Contents stay until the next use of fixture(). Returns the hash.
  const std::string& fill_for_timing();

  [[nodiscard]] const Case& place_case() const { return *case_; }
  [[nodiscard]] Device& device() const { return *device_; }
  /// To verify in, which changes its contents.
  [[nodiscard]] Fixture& fixture();
  /// To time in.
  [[nodiscard]] const Fixture& filled_fixture() const { return *fixture_; }
  /// The filled fixture, which is set 0, or another of the same case and seed: the same contents at
  /// other addresses, its index arrays included. Made on first use, for all backends here; throws
  /// EnvironmentError when there is no memory, and once that has happened, at once.
  [[nodiscard]] const Fixture& input_set(std::size_t index);
  [[nodiscard]] Stream& stream();
  /// Null where a host clock times.
  [[nodiscard]] SampleTimer* timer();

 private:
  const Case* case_;
  Device* device_;
  std::unique_ptr<Fixture> fixture_;
  std::string no_memory_;                            ///< why there is no fixture
  std::string timing_hash_;                          ///< empty unless filled for timing
  std::vector<std::unique_ptr<Fixture>> more_sets_;  ///< from set 1 on
  std::string no_memory_for_sets_;
  std::unique_ptr<Stream> stream_;
  std::unique_ptr<SampleTimer> timer_;
};

}  // namespace attnbench
