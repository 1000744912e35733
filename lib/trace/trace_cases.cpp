// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/trace_cases.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

#include "lib/trace/simulator.h"
#include "lib/trace/step_clusters.h"

namespace attnbench {
namespace {

std::vector<CaseRequests> rounded_requests(const TracedStep& step) {
  std::vector<StepRequest> parts(step.requests.begin(), step.requests.end());
  for (StepRequest& part : parts) {
    if (part.is_decode) {
      part.kv_len = std::max(part.new_tokens, rounded_length(part.kv_len));
    } else if (part.kv_len > part.new_tokens) {
      part.kv_len = rounded_length(part.kv_len - part.new_tokens) + part.new_tokens;
    }
  }
  std::ranges::stable_sort(parts, {}, [](const StepRequest& part) {
    return std::tuple(!part.is_decode, part.new_tokens, part.kv_len);
  });
  std::vector<CaseRequests> groups;
  for (const StepRequest& part : parts) {
    if (groups.empty() || groups.back().new_tokens != part.new_tokens ||
        groups.back().kv_len != part.kv_len) {
      groups.push_back({0, part.new_tokens, part.kv_len});
    }
    ++groups.back().count;
  }
  return groups;
}

/// How far a step is from what the steps of its cluster read and compute on average.
double distance_to_mean(const TracedStep& step, const StepCluster& cluster) {
  const auto steps = static_cast<double>(cluster.steps);
  const auto off = [&](std::int64_t value, double sum) {
    return sum == 0 ? 0 : std::abs(static_cast<double>(value) * steps / sum - 1);
  };
  return off(step.keys, cluster.keys) + off(step.prefill_pairs, cluster.prefill_pairs);
}

TraceCase case_of(const TracedStep& step, const StepCluster& cluster) {
  TraceCase found;
  found.weight = cluster.steps;
  found.start_s = step.start_s;
  found.decodes = step.decodes;
  found.prefill_tokens = step.prefill_tokens;
  found.requests = rounded_requests(step);
  found.steps_keys = cluster.keys;
  found.steps_pairs = cluster.prefill_pairs;
  std::int64_t decodes_left = step.decodes;
  for (const CaseRequests& group : found.requests) {
    const auto count = static_cast<double>(group.count), kv = static_cast<double>(group.kv_len),
               tokens = static_cast<double>(group.new_tokens);
    found.keys += count * kv;
    if (decodes_left <= 0) found.prefill_pairs += count * tokens * (kv - (tokens - 1) / 2);
    decodes_left -= group.count;
  }
  return found;
}

double error_of(double sum, double truth) { return truth == 0 ? 0 : sum / truth - 1; }

void sum_up(TraceCases& all) {
  double keys = 0, pairs = 0;
  for (const TraceCase& one : all.cases) {
    all.steps += one.weight;
    all.keys += one.steps_keys;
    all.prefill_pairs += one.steps_pairs;
    all.keys_apart += one.keys_apart;
    keys += static_cast<double>(one.weight) * one.keys;
    pairs += static_cast<double>(one.weight) * one.prefill_pairs;
  }
  all.keys_apart /= all.keys;
  all.keys_error = error_of(keys, all.keys);
  all.pairs_error = error_of(pairs, all.prefill_pairs);
}

}  // namespace

std::int64_t rounded_length(std::int64_t tokens) {
  const auto power = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(tokens)));
  const std::int64_t unit = std::max<std::int64_t>(16, power / 32);
  return std::max(unit, (tokens + unit / 2) / unit * unit);
}

TraceCases trace_cases(const Trace& trace, const EngineRules& rules, std::size_t count) {
  StepClusters clusters;
  static_cast<void>(simulate(trace, rules, [&](const TracedStep& step) { clusters.add(step); }));
  clusters.divide(count);
  constexpr double kNone = std::numeric_limits<double>::infinity();
  std::vector<double> distances(clusters.clusters().size(), kNone);
  std::vector<TraceCase> cases(distances.size());
  static_cast<void>(simulate(trace, rules, [&](const TracedStep& step) {
    const std::size_t c = clusters.cluster_of(step);
    const double distance = distance_to_mean(step, clusters.clusters()[c]);
    if (distance >= distances[c]) return;
    distances[c] = distance;
    cases[c] = case_of(step, clusters.clusters()[c]);
  }));
  for (std::size_t c = 0; c < cases.size(); ++c) {
    cases[c].keys_apart = clusters.keys_apart(c, cases[c].keys);
  }
  std::erase_if(cases, [](const TraceCase& one) { return one.weight == 0; });
  std::ranges::stable_sort(cases, std::ranges::greater(), &TraceCase::weight);
  TraceCases all;
  all.cases = std::move(cases);
  sum_up(all);
  return all;
}

}  // namespace attnbench
