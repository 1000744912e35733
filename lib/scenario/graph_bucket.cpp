// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/graph_bucket.h"

#include <algorithm>

#include "lib/scenario/problem_of.h"

namespace attnbench {

std::int64_t graph_bucket_of(const Case& c, const MeasureConfig& measure) {
  if (!problem_of(c).can_be_recorded()) return 0;
  const std::int64_t requests = std::ssize(c.requests) + c.padding.requests;
  const auto bucket = std::ranges::lower_bound(measure.graph_buckets, requests);
  return bucket == measure.graph_buckets.end() ? 0 : *bucket;
}

bool exceeds_graph_buckets(const Case& c, const MeasureConfig& measure) {
  return !measure.graph_buckets.empty() && problem_of(c).can_be_recorded() &&
         graph_bucket_of(c, measure) == 0;
}

}  // namespace attnbench
