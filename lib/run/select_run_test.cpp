// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs of backends that select keys, right ones and wrong ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <vector>

#include "lib/backend/testing/stub_backend.h"
#include "lib/run/driver.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr std::int64_t kTopK = 16;

/// A row as a selector sees it.
struct SelectorRow {
  const float* scores;
  std::int32_t units;
  std::int32_t columns;
  std::int32_t* list;
  std::int32_t* length;
};
using Selector = std::function<void(const SelectorRow&)>;

/// The best `count` of the first `units` scores, then -1.
void select_best(const SelectorRow& row, std::int64_t count, std::int32_t units,
                 const std::function<bool(float, float)>& better = std::greater()) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(units));
  std::iota(ids.begin(), ids.end(), 0);
  std::ranges::stable_sort(ids,
                           [&](auto a, auto b) { return better(row.scores[a], row.scores[b]); });
  count = std::min<std::int64_t>(count, units);
  std::fill(std::copy_n(ids.begin(), count, row.list), row.list + kTopK, -1);
  *row.length = static_cast<std::int32_t>(count);
}

void right(const SelectorRow& row) { select_best(row, kTopK, row.units); }

class SelectorBackend final : public StubBackend {
 public:
  SelectorBackend(Selector selector, int sound_runs)
      : StubBackend("selector"), selector_(std::move(selector)), sound_runs_(sound_runs) {
    info_.selects_keys = true;
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory&) override {
    return std::make_unique<FunctionPlan>([this, &batch](Stream&) { run(batch); });
  }

 private:
  void run(const ForwardBatch& batch) {
    const bool is_sound = runs_++ < sound_runs_;
    if (!is_sound && !selector_) return;
    const IndexScores& scores = *batch.index_scores;
    const std::vector<IndexOutput>& to = batch.index_outputs->arrays;
    for (std::int64_t i = 0; i < scores.tokens * scores.groups; ++i) {
      const SelectorRow row{scores.logits + i * scores.columns, scores.row_lens[i / scores.groups],
                            static_cast<std::int32_t>(scores.columns), to[0].data + i * kTopK,
                            to[1].data + i};
      (is_sound ? right : selector_)(row);
    }
  }

  Selector selector_;
  int sound_runs_, runs_ = 0;
};

class SelectRun : public testing::Test {
 protected:
  SelectRun() {
    devices_.push_back(make_cpu_device(1));
    scenario_.name = "select";
    Case c = small_plain_decode();
    c.layer.selection.topk = kTopK;
    for (std::int64_t i = 0; i < std::ssize(c.requests); ++i) {
      c.requests[static_cast<std::size_t>(i)].kv_len = i == 1 ? 9 : 900 + i;
    }
    scenario_.cases = {c};
    scenario_.measure.step = {StepPart::kSelect};
    scenario_.measure.cache = {CacheState::kWarm};
    scenario_.measure.min_rounds = scenario_.measure.max_rounds = 6;
    scenario_.measure.block_s = 0;
    scenario_.measure.min_block_samples = scenario_.measure.max_block_samples = 3;
  }
  std::vector<Record> run(const Selector& selector, int sound_runs = 0) {
    Registry registry;
    registry.add([=] { return std::make_unique<SelectorBackend>(selector, sound_runs); });
    registry.add([] { return std::make_unique<StubBackend>("reader"); });
    LocalExecutor executor(devices_, [](Device&) { return Ceilings{1e18, 1e18, 1e18}; });
    return run_scenario(scenario_, plan_run(scenario_, registry, filter_), executor, {}).records;
  }
  std::string reason_of(const Selector& selector) {
    const Record r = run(selector)[0];
    EXPECT_EQ(r.verdict(), Verdict::kIncorrect);
    return r.reason();
  }

  Devices devices_;
  Scenario scenario_;
  RunFilter filter_;
};

TEST_F(SelectRun, times_and_checks_who_selects_keys_and_asks_no_others) {
  const std::vector<Record> records = run(right);
  ASSERT_EQ(records.size(), 1u);
  const Record& r = records[0];
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason();
  EXPECT_EQ(r.step, StepPart::kSelect);
  EXPECT_TRUE(r.is_timed());
  EXPECT_EQ(r.error.rows, 0) << "nothing is computed";
  EXPECT_EQ(r.cost.flops, 0);
  EXPECT_THAT(r.repro, HasSubstr("--step select"));
}

TEST_F(SelectRun, takes_any_of_equal_scores_in_any_order) {
  const auto last_first = [](const SelectorRow& row) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(row.units));
    std::iota(ids.rbegin(), ids.rend(), 0);
    std::ranges::stable_sort(ids, std::greater(), [&](auto id) { return row.scores[id]; });
    const auto count = std::min<std::int64_t>(kTopK, row.units);
    std::fill(std::reverse_copy(ids.begin(), ids.begin() + count, row.list), row.list + kTopK, -1);
  };
  const Record r = run(last_first)[0];
  EXPECT_EQ(r.verdict(), Verdict::kPassed) << r.reason() << ": lengths may be left unwritten";
}

TEST_F(SelectRun, blames_a_selector_that_takes_a_key_too_few) {
  const auto selector = [](const SelectorRow& row) { select_best(row, kTopK - 1, row.units); };
  EXPECT_THAT(reason_of(selector), StartsWith("row 0 takes 15 keys; it should take 16"));
}

TEST_F(SelectRun, blames_a_selector_that_takes_a_key_twice) {
  const auto selector = [](const SelectorRow& row) {
    right(row);
    if (row.units > kTopK) row.list[3] = row.list[7];
  };
  EXPECT_THAT(reason_of(selector), testing::MatchesRegex("row 0 takes key [0-9]+ twice.*"));
}

TEST_F(SelectRun, blames_a_selector_that_ignores_the_lengths) {
  const auto selector = [](const SelectorRow& row) { select_best(row, kTopK, row.columns); };
  EXPECT_THAT(reason_of(selector), testing::MatchesRegex("row 0 takes key [0-9]+; it has 900.*"));
}

TEST_F(SelectRun, blames_a_selector_that_ignores_the_newest_key) {
  const auto selector = [](const SelectorRow& row) {
    select_best(row, kTopK, row.units > kTopK ? row.units - 1 : row.units);
  };
  EXPECT_THAT(reason_of(selector), HasSubstr(" ignores the newest key "));
}

TEST_F(SelectRun, blames_a_selector_to_which_neighbouring_scores_are_equal) {
  const auto selector = [](const SelectorRow& row) {
    const auto but_last_bit = [](float score) {
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(score) & ~1u);
    };
    select_best(row, kTopK, row.units,
                [=](float a, float b) { return but_last_bit(a) > but_last_bit(b); });
  };
  EXPECT_THAT(reason_of(selector), HasSubstr(" leaves out key "));
}

TEST_F(SelectRun, blames_a_selector_that_takes_magnitudes) {
  const auto selector = [](const SelectorRow& row) {
    select_best(row, kTopK, row.units, [](float a, float b) { return std::abs(a) > std::abs(b); });
  };
  EXPECT_THAT(reason_of(selector), HasSubstr(" and takes key "));
}

TEST_F(SelectRun, blames_a_selector_that_pads_nothing) {
  const auto selector = [](const SelectorRow& row) {
    std::vector<std::int32_t> before(row.list, row.list + kTopK);
    right(row);
    std::copy(before.begin() + std::min<std::int64_t>(row.units, kTopK), before.end(),
              row.list + std::min<std::int64_t>(row.units, kTopK));
  };
  EXPECT_THAT(reason_of(selector), StartsWith("column 9 of row 1 was not written"));
}

TEST_F(SelectRun, blames_a_wrong_length) {
  const auto selector = [](const SelectorRow& row) {
    right(row);
    *row.length = kTopK;
  };
  EXPECT_THAT(reason_of(selector), StartsWith("topk_length of row 1 is 16; it should be 9"));
}

TEST_F(SelectRun, blames_a_write_behind_the_lists) {
  const auto selector = [](const SelectorRow& row) {
    right(row);
    if (row.units == 902) row.list[kTopK] = 0;
  };
  scenario_.cases[0].requests.resize(3);
  EXPECT_THAT(reason_of(selector), HasSubstr("guard bytes of 'topk_indices' changed"));
}

TEST_F(SelectRun, blames_a_timed_sample_that_leaves_the_lists_of_the_one_before) {
  const Record r = run(nullptr, 20)[0];
  EXPECT_THAT(r.reason(), HasSubstr("row 0 takes 0 keys; it should take 16"));
  EXPECT_THAT(r.reason(), EndsWith("were timed"));
}

/// Right in one run of three, behind some that are: else each row gets the list that it had then.
Selector replaying(int right_run) {
  constexpr int kChecks = 12;  // runs at most before the first visit
  struct State {
    const float* first = nullptr;
    int runs = 0;
    std::map<std::int32_t*, std::vector<std::int32_t>> known;
  };
  return [right_run, state = std::make_shared<State>()](const SelectorRow& row) {
    if (state->first == nullptr) state->first = row.scores;
    if (row.scores == state->first) ++state->runs;
    std::vector<std::int32_t>& known = state->known[row.list];
    if (known.empty() || state->runs <= kChecks || state->runs % 3 == right_run) {
      right(row);
      known.assign(row.list, row.list + kTopK);
      return;
    }
    std::ranges::copy(known, row.list);
    *row.length = static_cast<std::int32_t>(std::min<std::int64_t>(kTopK, row.units));
  };
}

TEST_F(SelectRun, blames_lists_of_an_earlier_sample_whichever_sample_is_a_visit_s_last) {
  scenario_.measure.cache = {CacheState::kCold};
  scenario_.measure.min_rounds = scenario_.measure.max_rounds = 12;
  int among_others = 0;
  for (const int right_run : {0, 1, 2}) {
    const Record r = run(replaying(right_run))[0];
    EXPECT_EQ(r.verdict(), Verdict::kIncorrect) << r.reason();
    EXPECT_THAT(r.reason(), HasSubstr("leaves out key"));
    among_others += r.reason().starts_with("in timed sample ") ? 1 : 0;
  }
  EXPECT_EQ(among_others, 1) << "the last of each visit is compared whole";
}

TEST_F(SelectRun, refuses_layers_without_a_selection_and_backends_that_select_nothing) {
  filter_.backends = {"reader"};
  EXPECT_EQ(run(right)[0].reason(), "it selects no keys");
  filter_.backends = {"selector"};
  scenario_.cases[0].layer.selection = {};
  EXPECT_EQ(run(right)[0].reason(), "the layer has no selection");
}

}  // namespace
}  // namespace attnbench
