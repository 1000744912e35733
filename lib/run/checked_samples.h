// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lib/measure/sample_source.h"
#include "lib/verify/verify.h"

namespace attnbench {

/// Samples of a cell. It keeps the outputs of a few: of one in each placement (kPlacements visits
/// take turns over these), drawn after it was taken, so that a backend cannot foresee it, and of
/// the last one; and, of each step, the first sample that left some of O or LSE unwritten. A visit
/// that damaged memory ends the cell, where it does so again when it is repeated.
class CheckedSamples final : public SampleSource {
 public:
  struct Kept {
    std::int64_t ordinal = 0;  ///< of the sample within the cell, from 1
    SampleOutputs outputs;
  };

  /// A sample that left some of its outputs unwritten.
  struct Unwritten {
    std::int64_t ordinal = 0;
    std::size_t step = 0;  ///< of steps_of()
    SampleIo::Unwritten found;
  };

  using Wait = std::function<void(double seconds)>;

  /// `wait` is called before each repetition.
  CheckedSamples(std::unique_ptr<SampleSource> samples, std::uint64_t seed, Wait wait);

  /// Both throw a runtime_error that names the damage.
  void warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) override;
  void take(SampleBlock& block, int count, double left_s, const Stop& stop) override;

  /// By ordinal.
  [[nodiscard]] std::vector<Kept> kept() const;
  /// Empty when there was none that the backend is to blame for.
  [[nodiscard]] const std::string& damage() const { return damage_; }
  /// Damage that a visit found and that its repetition did not, so that something else may have
  /// done it; empty when there was none.
  [[nodiscard]] const std::string& odd_damage() const { return odd_damage_; }
  /// Of O, then of LSE only.
  [[nodiscard]] std::vector<Unwritten> unwritten() const;

 private:
  void keep(SampleOutputs outputs);
  [[noreturn]] void end(const std::string& damage);
  /// Whether a visit right behind one that found `damage` finds none. What `block` holds is then
  /// that visit's.
  [[nodiscard]] bool is_clean_again(const std::string& damage, SampleBlock& block, int count,
                                    double left_s, const Stop& stop);

  std::unique_ptr<SampleSource> samples_;
  std::uint64_t seed_;
  Wait wait_;
  std::int64_t taken_ = 0;
  std::size_t visits_ = 0;
  /// Of each placement, the sample with the smallest draw.
  std::map<std::size_t, std::pair<std::uint64_t, Kept>> drawn_;
  Kept last_;
  std::map<std::pair<bool, std::size_t>, Unwritten> unwritten_;  ///< by LSE or O, and step
  std::string damage_, odd_damage_;
};

/// What comparing the timed samples of a cell with the reference found.
struct SampleChecks {
  int compared = 0;  ///< samples whose rows were compared
  std::string
      fault;  ///< of the first wrong sample, or what a visit damaged; empty when all is well
  std::string doubt;  ///< why right samples prove little; empty when they do not
};

/// A cell whose samples are taken.
struct CheckedCell {
  const CheckedSamples* samples = nullptr;
  std::vector<Numerics> numerics;  ///< of the backend, for each step of the case
  std::string launch;              ///< "the eager launches", "the graph"
};

/// Compares what `cells` kept, all of one case, with the reference of each sample's own contents.
/// One result a cell, in their order. Uses OpenMP over the samples.
[[nodiscard]] std::vector<SampleChecks> check_timed_samples(const Case& c,
                                                            std::span<const CheckedCell> cells);

}  // namespace attnbench
