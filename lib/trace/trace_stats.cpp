// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/trace_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <numeric>

#include "lib/measure/statistics.h"

namespace attnbench {
namespace {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double gap_variation_of(const std::vector<TracedRequest>& requests) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < requests.size(); ++i) {
    gaps.push_back(requests[i].arrival_s - requests[i - 1].arrival_s);
  }
  const double mean = gaps.empty() ? 0 : mean_of(gaps);
  if (mean == 0) return 0;
  double squares = 0;
  for (const double gap : gaps) squares += (gap - mean) * (gap - mean);
  return std::sqrt(squares / static_cast<double>(gaps.size())) / mean;
}

/// Tokens of each prompt that those before it have left in a cache without a limit.
std::vector<double> reused_tokens_of(const Trace& trace) {
  std::vector<bool> seen(trace.distinct_blocks);
  std::vector<double> reused;
  for (const TracedRequest& request : trace.requests) {
    const auto blocks = trace.blocks_of(request);
    const auto fresh = std::ranges::find_if(blocks, [&](std::uint32_t b) { return !seen[b]; });
    for (const std::uint32_t block : blocks) seen[block] = true;
    const auto hits = static_cast<std::size_t>(std::distance(blocks.begin(), fresh));
    reused.push_back(static_cast<double>(spared_tokens(trace, request, hits)));
  }
  return reused;
}

std::vector<LengthBin> lengths_of(const std::vector<TracedRequest>& requests) {
  std::vector<LengthBin> bins;
  const auto bin_of = [&](std::int64_t tokens) -> LengthBin& {
    const auto up_to = std::bit_ceil(static_cast<std::uint64_t>(tokens));
    const auto power = static_cast<std::size_t>(std::countr_zero(up_to));
    while (bins.size() <= power) bins.push_back({std::int64_t{1} << bins.size()});
    return bins[power];
  };
  for (const TracedRequest& request : requests) {
    ++bin_of(request.input_tokens).inputs;
    ++bin_of(request.output_tokens).outputs;
  }
  const auto first =
      std::ranges::find_if(bins, [](const LengthBin& bin) { return bin.inputs + bin.outputs > 0; });
  bins.erase(bins.begin(), first);
  return bins;
}

}  // namespace

Spread spread_of(const std::vector<double>& values) {
  std::vector<double> ordered = values;  // quantile() sorts what it is given, which is quick then
  std::ranges::sort(ordered);
  return {mean_of(ordered),       ordered.front(),         quantile(ordered, 0.5),
          quantile(ordered, 0.9), quantile(ordered, 0.99), ordered.back()};
}

TraceStats trace_stats(const Trace& trace) {
  TraceStats stats;
  std::vector<double> inputs, outputs;
  for (const TracedRequest& request : trace.requests) {
    stats.input_tokens += request.input_tokens;
    stats.output_tokens += request.output_tokens;
    inputs.push_back(static_cast<double>(request.input_tokens));
    outputs.push_back(static_cast<double>(request.output_tokens));
  }
  const std::vector<double> reused = reused_tokens_of(trace);
  for (const double tokens : reused) stats.reused_tokens += static_cast<std::int64_t>(tokens);
  stats.span_s = trace.requests.back().arrival_s;
  if (stats.span_s > 0) {
    stats.requests_per_s = static_cast<double>(trace.requests.size()) / stats.span_s;
  }
  stats.gap_variation = gap_variation_of(trace.requests);
  stats.input = spread_of(inputs);
  stats.output = spread_of(outputs);
  stats.reused = spread_of(reused);
  stats.lengths = lengths_of(trace.requests);
  return stats;
}

}  // namespace attnbench
