// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "lib/measure/device_samples.h"

namespace attnbench {

/// Placements that the visits of a cell take turns over on a GPU. As many as the rounds that every
/// cell takes (MeasureConfig::min_rounds): each of these then has a placement of its own, and the
/// interval of their median holds the luck of an address.
inline constexpr std::size_t kPlacements = 12;

/// Samples of a cell whose visits take turns over several placements in memory, so that the
/// interval of their medians holds the luck of an address.
class PlacedSamples final : public SampleSource {
 public:
  /// One or more, all of the same work on the same contents.
  explicit PlacedSamples(std::vector<std::unique_ptr<DeviceSamples>> placements)
      : placements_(std::move(placements)) {}

  /// Of the first placement; the others are loaded when their turn comes.
  void warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) override;
  void take(SampleBlock& block, int count, double left_s, const Stop& stop) override;

 private:
  std::vector<std::unique_ptr<DeviceSamples>> placements_;
  std::size_t visits_ = 0;
};

}  // namespace attnbench
