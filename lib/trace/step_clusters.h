// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "lib/trace/traced_step.h"

namespace attnbench {

/// What decides the cost of a step's attention, each as log2(1 + x): decodes, their keys, the keys
/// of the longest of them, prefill tokens, and pairs of query and key of prompts. In logarithms a
/// step of twice the size is as far away for a small step as for a large one.
inline constexpr std::size_t kStepFeatures = 5;
using StepFeatures = std::array<double, kStepFeatures>;

[[nodiscard]] StepFeatures features_of(const TracedStep& step);

/// Steps that are alike.
struct StepCluster {
  std::int64_t steps = 0;
  double keys = 0, prefill_pairs = 0;  ///< sums over its steps
};

/// Clusters millions of steps in two passes without keeping them. Steps are counted in cells of a
/// quarter of an octave, and cells, weighted by what their steps read and compute, are clustered by
/// k-means from the farthest points. The same steps give the same clusters.
class StepClusters {
 public:
  void add(const TracedStep& step);
  /// After all steps: makes `count` clusters, or as many as there are cells.
  void divide(std::size_t count);

  [[nodiscard]] const std::vector<StepCluster>& clusters() const { return clusters_; }
  /// That of a step that was added.
  [[nodiscard]] std::size_t cluster_of(const TracedStep& step) const;
  /// Sum over a cluster's steps of how far their keys are from `keys`, the steps of a cell at their
  /// mean.
  [[nodiscard]] double keys_apart(std::size_t cluster, double keys) const;

 private:
  using CellKey = std::array<std::int16_t, kStepFeatures>;
  struct Cell {
    StepCluster sums;
    StepFeatures features{};  ///< sums before divide(), means after it
    double weight = 0;        ///< part of all keys and of all pairs
    std::size_t cluster = 0;
  };

  static CellKey key_of(const StepFeatures& features);
  void weigh_cells();
  [[nodiscard]] std::vector<StepFeatures> farthest_cells(std::size_t count) const;
  /// Whether a cell changed its cluster.
  bool assign(const std::vector<StepFeatures>& centres);
  void move(std::vector<StepFeatures>& centres) const;

  std::map<CellKey, Cell> cells_;
  std::vector<StepCluster> clusters_;
};

}  // namespace attnbench
