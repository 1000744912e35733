// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/measure/sample_source.h"

namespace attnbench {

/// Samples of a cell. It keeps the outputs of a few: of the last one, and of others that are drawn
/// after they were taken, so that a backend cannot foresee them. A visit that damaged memory ends
/// the cell.
class WatchedSamples final : public SampleSource {
 public:
  struct Kept {
    std::int64_t ordinal = 0;  ///< of the sample within the cell, from 1
    SampleOutputs outputs;
  };

  WatchedSamples(std::unique_ptr<SampleSource> samples, std::uint64_t seed)
      : samples_(std::move(samples)), seed_(seed) {}

  /// Both throw a runtime_error that names the damage.
  void warm_up(FirstSamples& first, double enough_s, double limit_s, const Stop& stop) override;
  void take(SampleBlock& block, int count, double left_s, const Stop& stop) override;

  /// By ordinal.
  [[nodiscard]] std::vector<Kept> kept() const;
  /// Empty when there was none.
  [[nodiscard]] const std::string& damage() const { return damage_; }

 private:
  void keep(SampleOutputs outputs);
  void end_if(const std::string& damage);

  std::unique_ptr<SampleSource> samples_;
  std::uint64_t seed_;
  std::int64_t taken_ = 0;
  std::vector<std::pair<std::uint64_t, Kept>> drawn_;  ///< those with the smallest draws
  Kept last_;
  std::string damage_;
};

}  // namespace attnbench
