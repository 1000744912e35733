// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of pipelines whose lists end in the query's own unit, which no indexer scores.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/backend/testing/stub_backend.h"
#include "lib/run/testing/pipeline_run.h"
#include "lib/scenario/problem_of.h"

namespace attnbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

class PipelineOfPools : public PipelineRun {
 protected:
  PipelineOfPools() {
    Case& c = run_.scenario.cases[0];
    c.layer.selection = {.topk = 4, .unit = 8, .tail = SelectionTail::kOpen, .index_heads = 4};
    // Behind complete pools, shorter than a pool, and with more pools than a list has room for.
    const std::int64_t kv_lens[] = {300, 8, 5, 304, 27};
    c.requests.resize(std::size(kv_lens), c.requests.front());
    for (std::size_t i = 0; i < c.requests.size(); ++i) c.requests[i].kv_len = kv_lens[i];
  }
  Selection& rule() { return run_.scenario.cases[0].layer.selection; }
  void expect_all_pass() {
    for (const Record& r : records()) {
      EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.backend << ": " << r.reason();
      EXPECT_GT(r.samples_checked, 0);
    }
    EXPECT_EQ(run_.filter.pipelines.size(), 2u);
  }
  std::string refusal() {
    const Record r = record_of("indexer+topk+cpu_flash");
    EXPECT_EQ(r.verdict(), Verdict::kUnsupported);
    return r.reason();
  }
};

/// Changes the list of one row behind the selector.
std::function<Spoiling()> with_list(std::int64_t row,
                                    std::function<void(std::span<std::int32_t>, std::int32_t&)> f) {
  return [=] {
    return Spoiling{.after = [=](const ForwardBatch& batch) {
      const std::vector<IndexOutput>& to = batch.index_outputs->arrays;
      const std::int64_t columns = to[0].shape[2];
      if (row >= to[0].shape[0]) return;  // a part of the batch
      f({to[0].data + row * columns, static_cast<std::size_t>(columns)}, to[1].data[row]);
    }};
  };
}

TEST_F(PipelineOfPools, see_the_open_pool_beside_those_that_are_selected) { expect_all_pass(); }

TEST_F(PipelineOfPools, see_the_whole_unit_of_the_query_beside_them) {
  rule().tail = SelectionTail::kOwn;
  expect_all_pass();
}

TEST_F(PipelineOfPools, have_tails_of_prompts_drafts_and_padding) {
  Case& c = run_.scenario.cases[0];
  c.padding = {.requests = 1, .tokens = 2};
  expect_all_pass();
  run_.filter = {};
  c.padding = {};
  c.mode = ForwardMode::kMixed;
  c.requests[0].q_len = 21;
  expect_all_pass();
}

/// Keys that each query of decodes of such lengths sees by the lists of a pipeline.
class KeysOfLists : public PipelineOfPools {
 protected:
  std::vector<std::int64_t> keys(const Selection& wanted, std::vector<std::int64_t> kv_lens) {
    Case& c = run_.scenario.cases[0];
    c.layer.selection = wanted;
    c.requests.resize(kv_lens.size(), c.requests.front());
    for (std::size_t i = 0; i < kv_lens.size(); ++i) c.requests[i].kv_len = kv_lens[i];
    const auto seen = std::make_shared<std::vector<std::int64_t>>();
    run_.registry.add([=] {
      return std::make_unique<SpoiltStage<topk::HostSelector>>([=] {
        return Spoiling{.after = [=](const ForwardBatch& batch) {
          const std::vector<IndexOutput>& to = batch.index_outputs->arrays;
          if (to[0].shape[0] != std::ssize(kv_lens)) return;  // a part of the batch
          seen->clear();
          for (std::size_t row = 0; row < kv_lens.size(); ++row) {
            std::int64_t& sum = seen->emplace_back();
            for (std::int32_t i = 0; i < to[1].data[row]; ++i) {
              const std::int64_t first =
                  to[0].data[static_cast<std::int64_t>(row) * wanted.topk + i] * wanted.unit;
              sum += std::min(first + wanted.unit, kv_lens[row]) - first;
            }
          }
        }};
      });
    });
    EXPECT_EQ(record_of("indexer+spoilt+cpu_flash").verdict(), Verdict::kPassed);
    return *seen;
  }
};

TEST_F(KeysOfLists, are_2048_and_the_open_pool_of_glm_5_3_flash) {
  EXPECT_THAT(keys({.topk = 129, .unit = 16, .tail = SelectionTail::kOpen, .index_heads = 4},
                   {2048, 2049, 2063, 2064, 3000}),
              testing::ElementsAre(2048, 2049, 2063, 2048, 2056));
}

TEST_F(KeysOfLists, are_512_regions_and_the_current_one_of_step_5) {
  EXPECT_THAT(keys({.topk = 513, .unit = 8, .tail = SelectionTail::kOwn, .index_heads = 4},
                   {5001, 5000, 4104, 4097}),
              testing::ElementsAre(4097, 4104, 4104, 4097));
}

TEST_F(PipelineOfPools, end_in_the_last_column_with_padding_in_front) {
  rule().padding = SelectionPadding::kFront;
  expect_all_pass();
  run_.filter = {};
  rule().tail = SelectionTail::kOwn;
  run_.scenario.cases[0].padding = {.requests = 1, .tokens = 2};
  expect_all_pass();
  run_.filter = {};
  rule() = {.topk = 400, .padding = SelectionPadding::kFront, .index_heads = 4};
  expect_all_pass();
}

TEST_F(PipelineOfPools, have_the_current_region_of_step_5_in_the_last_column) {
  rule() = {.topk = 6,
            .unit = 8,
            .tail = SelectionTail::kOwn,
            .padding = SelectionPadding::kFront,
            .index_heads = 4};
  std::vector<std::int32_t> list;
  run_.registry.add([&list] {
    return std::make_unique<SpoiltStage<topk::HostSelector>>(
        with_list(4, [&list](auto row, auto& length) {
          list.assign(row.begin(), row.end());
          list.push_back(length);
        }));
  });
  EXPECT_EQ(record_of("indexer+spoilt+cpu_flash").verdict(), Verdict::kPassed);
  ASSERT_EQ(list.size(), 7u) << "of 27 keys: regions 0 to 2, and the query's own";
  EXPECT_EQ(list[0], -1);
  EXPECT_EQ(list[1], -1);
  std::ranges::sort(list.begin() + 2, list.begin() + 5);
  EXPECT_THAT(list, testing::ElementsAre(-1, -1, 0, 1, 2, 3, 6));
}

TEST_F(PipelineOfPools, are_blamed_for_lists_that_end_elsewhere) {
  rule().padding = SelectionPadding::kFront;
  const auto reason = [this](std::int64_t row,
                             std::function<void(std::span<std::int32_t>, std::int32_t&)> f) {
    run_.registry = {};
    run_.registry.add([] { return std::make_unique<indexer::HostIndexer>(); });
    run_.registry.add([] { return std::make_unique<cpu_flash::CpuFlashBackend>(); });
    return reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash", with_list(row, f));
  };
  EXPECT_THAT(reason(1, [](auto list, auto&) { std::swap(list[0], list[3]); }),
              HasSubstr("row 1 takes 0 units; it should take 1"));
  EXPECT_THAT(reason(2, [](auto list, auto&) { std::swap(list[0], list[3]); }),
              HasSubstr("row 2 has -1 in column 3, behind 0 selected units; it should be 0"));
  EXPECT_THAT(reason(3, [](auto list, auto&) { list[0] = 36; }),
              HasSubstr("row 3 has 36 in column 0, before 3 selected units; it should be -1"));
  EXPECT_THAT(reason(0, [](auto, auto& length) { length = 3; }),
              HasSubstr("topk_length of row 0 is "));
}

TEST_F(PipelineOfPools, refuse_padding_in_front_where_a_selector_does_not_say_that_it_leaves_it) {
  rule().padding = SelectionPadding::kFront;
  BackendInfo info = topk::HostSelector().info();
  info.pads_front = false;
  const Problem problem = problem_of(run_.scenario.cases[0]);
  EXPECT_EQ(supports_padding(info, problem).reason(),
            "it leaves -1 behind its lists only, not before them (padding: front)");
  EXPECT_TRUE(supports_padding(topk::HostSelector().info(), problem));
}

TEST_F(PipelineOfPools, are_blamed_for_a_tail_that_is_missing) {
  EXPECT_THAT(reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash",
                                            with_list(0, [](auto list, auto&) { list[3] = -1; })),
              StartsWith("row 0 has -1 in column 3, behind 3 selected units; it should be 37, the "
                         "query's own"));
}

TEST_F(PipelineOfPools, are_blamed_for_the_tail_of_a_complete_pool) {
  EXPECT_THAT(reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash",
                                            with_list(3,
                                                      [](auto list, auto& length) {
                                                        list[3] = 36;
                                                        length = 4;
                                                      })),
              HasSubstr("row 3 has 36 in column 3, behind 3 selected units; it should be -1"));
}

TEST_F(PipelineOfPools, are_blamed_for_a_tail_of_a_request_without_a_complete_pool) {
  EXPECT_THAT(reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash",
                                            with_list(2, [](auto list, auto&) { list[0] = -1; })),
              StartsWith("row 2 has -1 in column 0, behind 0 selected units; it should be 0"));
}

TEST_F(PipelineOfPools, are_blamed_for_a_unit_that_is_selected_beside_the_tail) {
  EXPECT_THAT(
      reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash",
                                    with_list(0, [](auto list, auto&) { list[0] = list[1]; })),
      AllOf(StartsWith("row 0 takes unit "), HasSubstr(" twice")));
}

TEST_F(PipelineOfPools, are_blamed_for_a_length_without_the_tail) {
  EXPECT_THAT(reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash",
                                            with_list(0, [](auto, auto& length) { length = 3; })),
              StartsWith("topk_length of row 0 is 2; it should be 3"));
}

TEST_F(PipelineOfPools, are_blamed_for_tails_that_only_timed_samples_lack) {
  const auto make = [] {
    const auto runs = std::make_shared<int>(0);
    return Spoiling{.after = [=](const ForwardBatch& batch) {
      const std::vector<IndexOutput>& to = batch.index_outputs->arrays;
      if ((*runs)++ < kBeforeSamples) return;
      std::replace(to[0].data, to[0].data + to[0].shape[0] * to[0].shape[2], 37, -1);
      std::replace(to[0].data, to[0].data + to[0].shape[0] * to[0].shape[2], 0, -1);
    }};
  };
  EXPECT_THAT(reason_of<topk::HostSelector>("indexer+spoilt+cpu_flash", make),
              AllOf(HasSubstr("the query's own"), HasSubstr("timed")));
}

TEST_F(PipelineOfPools, are_refused_where_nothing_scores_the_query_s_own_unit) {
  rule().tail = SelectionTail::kCounted;
  EXPECT_THAT(refusal(), StartsWith("nothing scores a query's own unit before it is complete"));
}

TEST_F(PipelineOfPools, are_refused_where_maxima_take_the_query_s_own_unit_themselves) {
  rule().score = SelectionScore::kMax;
  rule().index_heads = 1;
  EXPECT_THAT(refusal(), StartsWith("score: max takes the query's own unit itself"));
}

TEST_F(PipelineOfPools, are_refused_where_no_query_sees_a_unit_beside_its_own) {
  rule().tail = SelectionTail::kOwn;
  for (Request& request : run_.scenario.cases[0].requests) request.kv_len = 8;
  EXPECT_THAT(refusal(), StartsWith("no query sees a unit beside its own"));
}

TEST_F(PipelineOfPools, are_refused_by_selectors_that_write_no_tails) {
  class WithoutTails final : public StubBackend {
   public:
    WithoutTails() : StubBackend("without_tails") { info_.selects_keys = true; }
  };
  run_.registry.add([] { return std::make_unique<WithoutTails>(); });
  EXPECT_THAT(record_of("indexer+without_tails+cpu_flash").reason(),
              StartsWith("without_tails: its lists have no tails"));
}

}  // namespace
}  // namespace attnbench
