// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/step_clusters.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attnbench {
namespace {

constexpr double kCellsPerOctave = 4;

double square_distance(const StepFeatures& a, const StepFeatures& b) {
  double sum = 0;
  for (std::size_t i = 0; i < kStepFeatures; ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

std::size_t nearest_centre(const StepFeatures& point, const std::vector<StepFeatures>& centres) {
  std::size_t nearest = 0;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < centres.size(); ++i) {
    const double distance = square_distance(point, centres[i]);
    if (distance < least) {
      least = distance;
      nearest = i;
    }
  }
  return nearest;
}

}  // namespace

StepFeatures features_of(const TracedStep& step) {
  std::int64_t keys = 0, longest = 0;
  for (const StepRequest& part : step.requests) {
    if (!part.is_decode) continue;
    keys += part.kv_len;
    longest = std::max(longest, part.kv_len);
  }
  StepFeatures features{};
  std::size_t i = 0;
  for (const std::int64_t value :
       {step.decodes, keys, longest, step.prefill_tokens, step.prefill_pairs}) {
    features[i++] = std::log2(1 + static_cast<double>(value));
  }
  return features;
}

StepClusters::CellKey StepClusters::key_of(const StepFeatures& features) {
  CellKey key{};
  std::ranges::transform(features, key.begin(), [](double feature) {
    return static_cast<std::int16_t>(feature * kCellsPerOctave);
  });
  return key;
}

void StepClusters::add(const TracedStep& step) {
  const StepFeatures features = features_of(step);
  Cell& cell = cells_[key_of(features)];
  ++cell.sums.steps;
  cell.sums.keys += static_cast<double>(step.keys);
  cell.sums.prefill_pairs += static_cast<double>(step.prefill_pairs);
  for (std::size_t i = 0; i < kStepFeatures; ++i) cell.features[i] += features[i];
}

void StepClusters::divide(std::size_t count) {
  weigh_cells();
  std::vector<StepFeatures> centres = farthest_cells(count);
  constexpr int kMostRounds = 100;  // it is settled after some twenty
  for (int round = 0; round < kMostRounds && assign(centres); ++round) move(centres);
  clusters_.assign(centres.size(), {});
  for (const auto& [key, cell] : cells_) {
    StepCluster& cluster = clusters_[cell.cluster];
    cluster.steps += cell.sums.steps;
    cluster.keys += cell.sums.keys;
    cluster.prefill_pairs += cell.sums.prefill_pairs;
  }
}

void StepClusters::weigh_cells() {
  double keys = 0, pairs = 0;
  for (auto& [key, cell] : cells_) {
    keys += cell.sums.keys;
    pairs += cell.sums.prefill_pairs;
    for (double& feature : cell.features) feature /= static_cast<double>(cell.sums.steps);
  }
  for (auto& [key, cell] : cells_) {
    cell.weight = cell.sums.keys / keys + (pairs == 0 ? 0 : cell.sums.prefill_pairs / pairs);
  }
}

std::vector<StepFeatures> StepClusters::farthest_cells(std::size_t count) const {
  std::vector<StepFeatures> centres;
  while (centres.size() < std::min(count, cells_.size())) {
    const Cell* farthest = nullptr;
    double most = -1;
    for (const auto& [key, cell] : cells_) {
      const double distance =
          centres.empty()
              ? 1
              : square_distance(cell.features, centres[nearest_centre(cell.features, centres)]);
      if (cell.weight * distance > most) {
        most = cell.weight * distance;
        farthest = &cell;
      }
    }
    centres.push_back(farthest->features);
  }
  return centres;
}

bool StepClusters::assign(const std::vector<StepFeatures>& centres) {
  bool changed = false;
  for (auto& [key, cell] : cells_) {
    const std::size_t nearest = nearest_centre(cell.features, centres);
    changed = changed || cell.cluster != nearest;
    cell.cluster = nearest;
  }
  return changed;
}

void StepClusters::move(std::vector<StepFeatures>& centres) const {
  std::vector<StepFeatures> sums(centres.size(), StepFeatures{});
  std::vector<double> weights(centres.size());
  for (const auto& [key, cell] : cells_) {
    weights[cell.cluster] += cell.weight;
    for (std::size_t i = 0; i < kStepFeatures; ++i) {
      sums[cell.cluster][i] += cell.weight * cell.features[i];
    }
  }
  for (std::size_t c = 0; c < centres.size(); ++c) {
    if (weights[c] == 0) continue;  // an empty cluster stays where it was
    for (std::size_t i = 0; i < kStepFeatures; ++i) centres[c][i] = sums[c][i] / weights[c];
  }
}

double StepClusters::keys_apart(std::size_t cluster, double keys) const {
  double sum = 0;
  for (const auto& [key, cell] : cells_) {
    if (cell.cluster != cluster) continue;
    sum += std::abs(cell.sums.keys - static_cast<double>(cell.sums.steps) * keys);
  }
  return sum;
}

std::size_t StepClusters::cluster_of(const TracedStep& step) const {
  return cells_.at(key_of(features_of(step))).cluster;
}

}  // namespace attnbench
