// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/simulator.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/trace/simulation_report.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Requests {arrival, prompt, answer} without shared prefixes.
Trace trace_of(std::vector<TracedRequest> requests) {
  Trace trace;
  trace.file = "t";
  trace.requests = std::move(requests);
  return trace;
}

/// "D3/11" is a decode of request 3 on 11 keys, "P3:8/20" a part of 8 tokens of its prompt.
std::string text_of(const StepRequest& part) {
  return (part.is_decode
              ? "D" + std::to_string(part.request) +
                    (part.new_tokens > 1 ? ":" + std::to_string(part.new_tokens) : "")
              : "P" + std::to_string(part.request) + ":" + std::to_string(part.new_tokens)) +
         "/" + std::to_string(part.kv_len);
}

std::vector<std::string> steps_of(const Trace& trace, const EngineRules& rules) {
  std::vector<std::string> steps;
  static_cast<void>(simulate(trace, rules, [&](const TracedStep& step) {
    std::string text;
    for (const StepRequest& part : step.requests) {
      text += (text.empty() ? "" : " ") + text_of(part);
    }
    steps.push_back(text);
  }));
  return steps;
}

EngineRules rules_of(std::int64_t budget) {
  EngineRules rules;
  rules.token_budget = budget;
  rules.time = {1, 0, 0};  // a second a step
  return rules;
}

TEST(Simulator, puts_decodes_first_and_fills_the_step_with_parts_of_prompts) {
  const Trace trace = trace_of({{0, 5, 3}, {0, 10, 1}});
  EXPECT_THAT(steps_of(trace, rules_of(8)), ElementsAre("P0:5/5 P1:3/3", "D0/6 P1:7/10", "D0/7"));
}

TEST(Simulator, gives_whole_prompts_steps_of_their_own_without_chunked_prefill) {
  EngineRules rules = rules_of(8);
  rules.chunked_prefill = false;
  const Trace trace = trace_of({{0, 5, 3}, {0, 3, 2}, {0, 10, 1}});
  EXPECT_THAT(steps_of(trace, rules),
              ElementsAre("P0:5/5 P1:3/3", "P2:10/10", "D0/6 D1/4", "D0/7"));
}

TEST(Simulator, lets_requests_wait_for_their_arrival_and_for_a_place) {
  EngineRules rules = rules_of(100);
  rules.max_requests = 2;
  const Trace trace = trace_of({{0, 4, 3}, {0.5, 4, 2}, {0.6, 4, 1}, {9, 4, 1}});
  EXPECT_THAT(steps_of(trace, rules),
              ElementsAre("P0:4/4", "D0/5 P1:4/4", "D0/6 D1/5", "P2:4/4", "P3:4/4"));
  const SimulationTotals totals = simulate(trace, rules, [](const TracedStep&) {});
  EXPECT_EQ(totals.end_s, 10);
  EXPECT_EQ(totals.busy_s, 5);
  EXPECT_DOUBLE_EQ(totals.first_token_s.mean, (1 + 1.5 + 3.4 + 1) / 4);
  EXPECT_EQ(totals.later_token_s.mean, 1);
  EXPECT_EQ(totals.mixed_steps, 1);
  EXPECT_EQ(totals.decode_steps, 1);
}

TEST(Simulator, keeps_decodes_waiting_that_the_budget_has_no_room_for) {
  const Trace trace = trace_of({{0, 1, 3}, {0, 1, 3}});
  EngineRules rules = rules_of(2);
  EXPECT_THAT(steps_of(trace, rules), ElementsAre("P0:1/1 P1:1/1", "D0/2 D1/2", "D0/3 D1/3"));
  rules.draft_tokens = 1;
  rules.accept_rate = 0;
  EXPECT_THAT(steps_of(trace, rules),
              ElementsAre("P0:1/1 P1:1/1", "D0:2/3", "D0:2/4", "D1:2/3", "D1:2/4"));
  rules.draft_tokens = 2;
  EXPECT_THROW(static_cast<void>(steps_of(trace, rules)), ConfigError);
}

TEST(Simulator, spares_a_prompt_the_blocks_that_another_left) {
  Trace trace = trace_of({{0, 8, 1}, {0, 8, 1}, {5, 11, 1}, {9, 8, 1}});
  trace.block_tokens = 4;
  trace.blocks = {0, 1, 2};
  trace.distinct_blocks = 3;
  trace.requests[0].blocks = trace.requests[1].blocks = trace.requests[3].blocks = 2;
  trace.requests[2].blocks = 2;
  trace.requests[2].first_block = 0;
  EngineRules rules = rules_of(100);
  EXPECT_THAT(steps_of(trace, rules), ElementsAre("P0:8/8 P1:8/8", "P2:3/11", "P3:1/8"))
      << "the second came before the first was computed; the last computes its last token";
  EXPECT_EQ(simulate(trace, rules, [](const TracedStep&) {}).hit_tokens, 8 + 7);
  rules.cache_tokens = 7;  // one block
  EXPECT_EQ(simulate(trace, rules, [](const TracedStep&) {}).hit_tokens, 4 + 4);
  rules.cache_tokens = 0;
  EXPECT_EQ(simulate(trace, rules, [](const TracedStep&) {}).hit_tokens, 0);
}

TEST(Simulator, accepts_drafts_up_to_the_first_that_is_refused) {
  const Trace trace = trace_of({{0, 10, 100001}});
  EngineRules rules = rules_of(100);
  rules.draft_tokens = 3;
  rules.accept_rate = 1;
  EXPECT_EQ(simulate(trace, rules, [](const TracedStep&) {}).decode_steps, 25000);
  rules.accept_rate = 0;
  EXPECT_EQ(simulate(trace, rules, [](const TracedStep&) {}).decode_steps, 100000);
  rules.accept_rate = 0.5;  // 1 + 1/2 + 1/4 + 1/8 tokens a step
  const auto steps =
      static_cast<double>(simulate(trace, rules, [](const TracedStep&) {}).decode_steps);
  EXPECT_NEAR(steps, 100000 / 1.875, 500);
  rules.seed = 1;
  EXPECT_NE(simulate(trace, rules, [](const TracedStep&) {}).decode_steps, steps);
}

TEST(Simulator, splits_a_request_between_two_engines) {
  const Trace trace = trace_of({{0, 5, 3}, {0, 6, 1}});
  EngineRules rules = rules_of(100);
  rules.role = EngineRole::kPrefill;
  EXPECT_THAT(steps_of(trace, rules), ElementsAre("P0:5/5 P1:6/6"));
  rules.role = EngineRole::kDecode;
  EXPECT_THAT(steps_of(trace, rules), ElementsAre("D0/6", "D0/7"));
  EXPECT_EQ(simulate(trace, rules, [](const TracedStep&) {}).received_tokens, 5);
}

TEST(Simulator, takes_for_a_step_what_its_tokens_and_keys_are_said_to_take) {
  EngineRules rules = rules_of(100);
  rules.time = {1, 0.5, 0.25};
  std::vector<double> durations;
  std::vector<std::int64_t> pairs;
  static_cast<void>(simulate(trace_of({{0, 4, 2}}), rules, [&](const TracedStep& step) {
    durations.push_back(step.duration_s);
    pairs.push_back(step.prefill_pairs);
  }));
  EXPECT_THAT(durations, ElementsAre(1 + 4 * 0.5 + 4 * 0.25, 1 + 0.5 + 5 * 0.25));
  EXPECT_THAT(pairs, ElementsAre(10, 0));
}

/// Whatever the rules: the ledger, which the simulator asks at its end, finds each token once.
TEST(Simulator, loses_no_token_under_any_rules) {
  std::mt19937_64 random(5);
  const auto draw = [&](std::uint64_t below) {
    return static_cast<std::int64_t>(random() % below);
  };
  for (int i = 0; i < 300; ++i) {
    Trace trace = trace_of({});
    trace.block_tokens = 4;
    trace.distinct_blocks = 40;
    double arrival = 0;
    for (int r = 0; r < 30; ++r) {
      TracedRequest request{arrival += static_cast<double>(draw(4)), 1 + draw(60), 1 + draw(20)};
      request.first_block = trace.blocks.size();
      // Block n of the tree stands behind n / 3.
      std::vector<std::uint32_t> blocks;
      for (auto b = static_cast<std::uint32_t>(draw(40)); b > 0; b /= 3) blocks.push_back(b);
      request.blocks = std::min(blocks.size(), static_cast<std::size_t>(request.input_tokens / 4));
      trace.blocks.insert(trace.blocks.end(), blocks.rbegin(),
                          blocks.rbegin() + static_cast<std::ptrdiff_t>(request.blocks));
      trace.requests.push_back(request);
    }
    EngineRules rules = rules_of(5 + draw(60));
    rules.max_requests = 1 + draw(8);
    rules.chunked_prefill = draw(2) == 0;
    if (draw(2) == 0) rules.cache_tokens = draw(100);
    rules.draft_tokens = draw(5);
    rules.role = static_cast<EngineRole>(draw(3));
    rules.seed = random();
    std::int64_t most = 0;
    const auto watch = [&](const TracedStep& step) {
      std::int64_t tokens = 0;
      for (const StepRequest& part : step.requests) tokens += part.new_tokens;
      most = std::max(most, tokens);
      EXPECT_LE(static_cast<std::int64_t>(step.requests.size()), rules.max_requests);
      EXPECT_GT(tokens, 0);
    };
    const SimulationTotals totals = simulate(trace, rules, watch);
    if (rules.chunked_prefill) {
      EXPECT_LE(most, rules.token_budget);
    }
    EXPECT_EQ(totals.steps, simulate(trace, rules, [](const TracedStep&) {}).steps);
  }
}

TEST(Simulator, is_reported_for_people_and_as_rows_of_steps) {
  const Trace trace = trace_of({{0, 4, 2}});
  std::ostringstream rows, text;
  write_step_header(rows);
  const SimulationTotals totals =
      simulate(trace, rules_of(100), [&](const TracedStep& step) { write_step_row(step, rows); });
  EXPECT_EQ(rows.str(),
            "start_s,duration_us,requests,decodes,prefill_tokens,hit_tokens,keys,prefill_pairs\n"
            "0.000000,1000000.000,1,0,4,0,4,10\n"
            "1.000000,1000000.000,1,1,0,0,5,0\n");
  write_simulation_text(trace, totals, text);
  EXPECT_THAT(text.str(),
              HasSubstr("1 request served in 2 s · 2 steps: 1 of decodes, 1 of prompts"));
  EXPECT_THAT(text.str(), HasSubstr("to the first token  1.00 s"));
}

}  // namespace
}  // namespace attnbench
