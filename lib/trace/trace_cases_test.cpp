// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/trace_cases.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "lib/scenario/scenario.h"
#include "lib/trace/cases_report.h"
#include "lib/trace/simulator.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// 400 requests with lengths of two orders of magnitude.
Trace busy_trace() {
  Trace trace;
  trace.file = "logs/busy.csv";
  std::mt19937_64 random(11);
  double arrival = 0;
  for (int i = 0; i < 400; ++i) {
    arrival += static_cast<double>(random() % 100) / 1000;
    const auto exponent = static_cast<double>(random() % 1000) / 1000;
    trace.requests.push_back({arrival, static_cast<std::int64_t>(100 * std::pow(100, exponent)),
                              static_cast<std::int64_t>(1 + random() % 200)});
  }
  return trace;
}

EngineRules small_engine() {
  EngineRules rules;
  rules.token_budget = 2048;
  rules.max_requests = 24;
  return rules;
}

TEST(TraceCases, weigh_as_much_as_there_are_steps_and_say_by_how_much_they_are_off) {
  const Trace trace = busy_trace();
  const SimulationTotals totals = simulate(trace, small_engine(), [](const TracedStep&) {});
  const TraceCases all = trace_cases(trace, small_engine(), 12);
  EXPECT_EQ(all.cases.size(), 12u);
  EXPECT_EQ(all.steps, totals.steps);
  EXPECT_EQ(all.keys, static_cast<double>(totals.keys));
  EXPECT_EQ(all.prefill_pairs, static_cast<double>(totals.prefill_pairs));
  double keys = 0, pairs = 0;
  for (const TraceCase& one : all.cases) {
    for (const CaseRequests& group : one.requests) {
      const auto requests = static_cast<double>(one.weight * group.count);
      keys += requests * static_cast<double>(group.kv_len);
      if (group.new_tokens == 1) continue;
      for (std::int64_t q = 0; q < group.new_tokens; ++q) {  // each sees itself and all before it
        pairs += requests * static_cast<double>(group.kv_len - group.new_tokens + q + 1);
      }
    }
  }
  EXPECT_NEAR(all.keys_error, keys / all.keys - 1, 1e-9);
  EXPECT_NEAR(all.pairs_error, pairs / all.prefill_pairs - 1, 1e-9);
  EXPECT_LT(std::abs(all.keys_error), 0.02);
  EXPECT_LT(std::abs(all.pairs_error), 0.05);
}

TEST(TraceCases, say_how_far_steps_are_from_the_case_that_stands_for_them) {
  Trace trace;  // decodes of one request whose keys grow from 101 to 1100, mean 600.5
  trace.requests = {{0, 100, 1001}};
  EngineRules rules = small_engine();
  rules.role = EngineRole::kDecode;
  const TraceCases one = trace_cases(trace, rules, 1);
  EXPECT_EQ(one.cases[0].requests[0].kv_len, 608) << "the nearest to the mean, rounded to 16";
  // |x - 608| over a uniform x from 100 to 1100 is 250 on average; cells have their mean.
  EXPECT_NEAR(one.keys_apart, 250 / 600.5, 0.02);
  EXPECT_LT(std::abs(one.keys_error), 0.02);
  EXPECT_LT(trace_cases(trace, rules, 6).keys_apart, one.keys_apart / 3);
}

TEST(TraceCases, are_real_steps_and_the_same_each_time) {
  const Trace trace = busy_trace();
  const TraceCases all = trace_cases(trace, small_engine(), 6),
                   again = trace_cases(trace, small_engine(), 6);
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    EXPECT_EQ(all.cases[i].start_s, again.cases[i].start_s);
    bool found = false;
    static_cast<void>(simulate(trace, small_engine(), [&](const TracedStep& step) {
      found =
          found || (step.start_s == all.cases[i].start_s && step.decodes == all.cases[i].decodes &&
                    step.prefill_tokens == all.cases[i].prefill_tokens);
    }));
    EXPECT_TRUE(found) << i;
  }
  std::int64_t before = all.steps;
  for (const TraceCase& one : all.cases) {
    EXPECT_LE(one.weight, before) << "the largest weight comes first";
    before = one.weight;
  }
}

TEST(TraceCases, make_a_scenario_whose_batches_are_their_requests) {
  const TraceCases all = trace_cases(busy_trace(), small_engine(), 7);
  std::ostringstream yaml;
  write_cases_scenario(busy_trace(), all, "llama-3.1-8b", yaml);
  EXPECT_THAT(yaml.str(), HasSubstr("steps of busy.csv (400 requests)"));
  EXPECT_THAT(yaml.str(), HasSubstr("# weight " + std::to_string(all.cases[0].weight) + ": "));
  const Scenario scenario = parse_scenario(yaml.str(), "served.yaml");
  ASSERT_EQ(scenario.cases.size(), all.cases.size());
  for (std::size_t i = 0; i < all.cases.size(); ++i) {
    std::int64_t keys = 0;
    for (const auto& request : scenario.cases[i].requests) keys += request.kv_len;
    EXPECT_EQ(static_cast<double>(keys), all.cases[i].keys) << scenario.cases[i].id;
  }
}

TEST(TraceCases, write_drafts_as_queries_behind_one_another) {
  EngineRules rules = small_engine();
  rules.draft_tokens = 3;
  Trace trace;
  trace.requests = {{0, 4096, 2}};
  const TraceCases all = trace_cases(trace, rules, 4);
  std::vector<std::string> batches;
  for (const TraceCase& one : all.cases) batches.push_back(batch_string_of(one));
  // The second half of the prompt, its first half, and a decode of its own token and three drafts.
  EXPECT_THAT(batches, UnorderedElementsAre("q2ks2k", "q2ks4k", "q4s4k"));
}

TEST(RoundedLength, is_at_most_a_64th_off_or_eight_tokens) {
  for (std::int64_t tokens = 1; tokens < 300000; tokens = tokens + 1 + tokens / 50) {
    const std::int64_t rounded = rounded_length(tokens);
    EXPECT_EQ(rounded % 16, 0);
    EXPECT_GE(rounded, 16);
    if (tokens >= 16) {
      EXPECT_LE(std::abs(rounded - tokens), std::max<std::int64_t>(8, tokens / 64)) << tokens;
    }
  }
}

}  // namespace
}  // namespace attnbench
