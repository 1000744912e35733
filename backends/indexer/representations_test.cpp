// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Scores of the representations of pages, and the pages that are taken by them.
#include "backends/indexer/representations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "backends/indexer/indexer.h"
#include "backends/testing/select_conformance.h"
#include "backends/testing/spoils_output.h"
#include "backends/topk/topk.h"

namespace attnbench::indexer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kRowOfUnit = IndexerInputs::kDim * 2;  // bytes

void put_row(std::vector<std::byte>& rows, std::int64_t row, float first, float second) {
  store(DType::kBF16, rows.data() + row * kRowOfUnit, first);
  store(DType::kBF16, rows.data() + row * kRowOfUnit + 2, second);
}

/// The worked example: 10 keys in pages of 4, a window of 2, so that the first two of three pages
/// are candidates. Two query heads of one group, [1, 0] and [0, 2]; the pages' representations are
/// [1, 1] and [3, 0], and their bounds reach one below these.
class TwoPages {
 public:
  explicit TwoPages(SelectionScore score, std::int64_t topk = 1) {
    problem_.layer.heads_q = 2;
    problem_.layer.heads_kv = 1;
    problem_.layer.scale = 1;
    problem_.layer.selection = {.topk = topk,
                                .unit = 4,
                                .score = score,
                                .index_heads = 2,
                                .window = 2,
                                .softmax = SelectionSoftmax::kUnits};
    put_row(queries_, 0, 1, 0);
    put_row(queries_, 1, 0, 2);
    if (score == SelectionScore::kBounds) {
      put_row(cache_, 0, 0, 0);
      put_row(cache_, 1, 1, 1);
      put_row(cache_, 2, 2, -1);
      put_row(cache_, 3, 3, 0);
    } else {
      put_row(cache_, 0, 1, 1);
      put_row(cache_, 1, 3, 0);
    }
    candidates_ = static_cast<std::int32_t>(problem_.layer.selection.candidates(9));
    batch_.forward_mode = ForwardMode::kDecode;
    batch_.batch_size = 1;
    batch_.seq_lens = {10};
    batch_.problem = &problem_;
    device_.qo_indptr = qo_indptr_;
    device_.block_table = pages_;
    device_.block_table_width = 3;
    batch_.device_batch = &device_;
  }

  /// Was written once more.
  void rewrite(std::size_t page) { ++unit_versions_[page]; }

  std::vector<float> logits() {
    const IndexerInputs inputs{.q = queries_.data(),
                               .cache = cache_.data(),
                               .row_lens = &candidates_,
                               .tokens = 1,
                               .heads = 2,
                               .pages = 3,
                               .page_size = 1,
                               .unit_versions = unit_versions_.data(),
                               .row_versions = row_versions_.data()};
    std::vector<float> logits(3, -99);
    IndexOutputs outputs;
    outputs.arrays = {
        {"logits", {1, 1, 3}, static_cast<std::int32_t*>(static_cast<void*>(logits.data()))}};
    batch_.indexer = &inputs;
    batch_.index_outputs = &outputs;
    plan_representations(batch_)->run(*stream_);
    EXPECT_EQ(logits.back(), -99) << "the third page is no candidate";
    logits.pop_back();
    return logits;
  }

  struct Selected {
    std::vector<std::int32_t> pages;
    std::int32_t length = -99;
    std::vector<float> scores;
  };
  Selected selected() {
    const std::vector<float> scores = logits();
    const IndexScores in{
        .logits = scores.data(), .row_lens = &candidates_, .tokens = 1, .groups = 1, .columns = 2};
    const auto topk = problem_.layer.selection.topk;
    Selected selected{std::vector<std::int32_t>(static_cast<std::size_t>(topk)), -99,
                      std::vector<float>(static_cast<std::size_t>(topk))};
    IndexOutputs outputs;
    outputs.arrays = {{"topk_indices", {1, 1, topk}, selected.pages.data()},
                      {"topk_length", {1, 1}, &selected.length},
                      {"topk_scores",
                       {1, 1, topk},
                       static_cast<std::int32_t*>(static_cast<void*>(selected.scores.data()))}};
    batch_.index_scores = &in;
    batch_.index_outputs = &outputs;
    PlanMemory memory(*cpu_);
    topk::HostSelector().plan(batch_, memory)->run(*stream_);
    return selected;
  }

 private:
  std::vector<std::byte> queries_ = std::vector<std::byte>(2 * kRowOfUnit);
  std::vector<std::byte> cache_ = std::vector<std::byte>(6 * kRowOfUnit);
  std::vector<std::int32_t> unit_versions_ = {7, 3, 4}, row_versions_ = {7, 3, 4};
  std::int32_t candidates_ = 0, qo_indptr_[2] = {0, 1}, pages_[3] = {0, 1, 2};
  Problem problem_;
  DeviceBatch device_;
  ForwardBatch batch_;
  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = cpu_->make_stream();
};

TEST(Representations, are_scored_by_the_sum_of_a_group_s_heads_or_by_the_best_of_them) {
  EXPECT_THAT(TwoPages(SelectionScore::kGroup).logits(), ElementsAre(3, 3));
  EXPECT_THAT(TwoPages(SelectionScore::kHead).logits(), ElementsAre(2, 3));
  EXPECT_THAT(TwoPages(SelectionScore::kHead).selected().pages, ElementsAre(1));
  EXPECT_THAT(TwoPages(SelectionScore::kGroup).selected().scores, ElementsAre(3)) << "either page";
}

// Head [1, 0] reaches 1 and 3, head [0, 2] 2 and 0.
TEST(Representations, of_bounds_are_scored_by_the_most_that_a_key_within_them_can_have) {
  EXPECT_THAT(TwoPages(SelectionScore::kBounds).logits(), ElementsAre(2, 3));
}

TEST(Representations, of_pages_that_were_rewritten_are_taken_by_nobody) {
  TwoPages pages(SelectionScore::kHead, 4);
  EXPECT_THAT(pages.selected().pages, ElementsAre(0, 1, -1, -1)) << "more entries than pages";
  EXPECT_THAT(pages.selected().scores, ElementsAre(2, 3, -INFINITY, -INFINITY));
  pages.rewrite(1);
  EXPECT_THAT(pages.logits(), ElementsAre(2, -INFINITY));
  EXPECT_THAT(pages.selected().pages, ElementsAre(0, -1, -1, -1));
  EXPECT_EQ(pages.selected().length, 1);
  pages.rewrite(0);
  EXPECT_THAT(pages.selected().pages, ElementsAre(-1, -1, -1, -1)) << "all are stale";
  EXPECT_EQ(pages.selected().length, 0);
}

/// The small cases with a selection, and a long decode, by representations of pages.
std::vector<Case> cases_of_representations(StepPart part) {
  std::vector<Case> cases = small_selections();
  cases.push_back(conformance::selecting_decodes(16, {1, 127, 128, 129, 1000, 4097}));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Case& c = cases[i];
    Selection& rule = c.layer.selection;
    constexpr SelectionScore kScores[] = {SelectionScore::kGroup, SelectionScore::kHead,
                                          SelectionScore::kBounds};
    rule.score = kScores[i % 3];
    rule.tail = SelectionTail::kCounted;
    rule.unit = i % 2 == 0 ? 4 : 16;
    rule.groups = i % 4 == 0 ? SelectionGroups::kOne : SelectionGroups::kKvHeads;
    rule.index_heads = c.layer.heads_q;
    rule.window = i % 5 == 0 ? 0 : 9;
    rule.window_heads = 0;
    rule.softmax = i % 2 == 0 ? SelectionSoftmax::kUnits : SelectionSoftmax::kKeys;
    rule.stale = i % 3 == 0 ? 0.3 : 0;
    c.kv_cache.page_size = c.kv_cache.manager_page_size = 16;
    c = with_step(c, part);
  }
  std::erase_if(cases, [](const Case& c) { return !why_not_built(c, c.step).empty(); });
  return cases;
}

Verification verified_step(const Case& c, Backend& backend) {
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  VerifyConfig verify;
  verify.fills = {Fill::kNormal, Fill::kNeedle, Fill::kTiming};
  return verify_backend(c, backend, fixture, *device, compute_truth(c, verify));
}

TEST(Representations, of_all_small_cases_are_scored_within_their_bounds) {
  int taken = 0;
  for (const Case& c : cases_of_representations(StepPart::kIndexer)) {
    HostIndexer backend;
    const Verification found = verified_step(c, backend);
    EXPECT_EQ(found.verdict, Verdict::kPassed) << c.id << ": " << found.reason;
    ++taken;
  }
  EXPECT_GT(taken, 5);
}

TEST(Representations, of_all_small_cases_are_selected_by_their_scores) {
  int taken = 0;
  for (const Case& c : cases_of_representations(StepPart::kSelect)) {
    topk::HostSelector backend;
    const Verification found = verified_step(c, backend);
    EXPECT_EQ(found.verdict, Verdict::kPassed) << c.id << ": " << found.reason;
    ++taken;
  }
  EXPECT_GT(taken, 5);
}

/// Two groups, in pages of 8 behind a window of 12, of which a third are stale.
Case stale_decodes(StepPart part) {
  Case c = conformance::selecting_decodes(4, {50, 300});
  c.layer.selection = {.topk = 4,
                       .unit = 8,
                       .groups = SelectionGroups::kKvHeads,
                       .score = SelectionScore::kHead,
                       .index_heads = c.layer.heads_q,
                       .window = 12,
                       .softmax = SelectionSoftmax::kUnits,
                       .stale = 0.3};
  c.kv_cache.page_size = 8;
  return with_step(c, part);
}

float* floats_of(const IndexOutput& array, std::int64_t row) {
  return static_cast<float*>(static_cast<void*>(array.data)) + row * array.shape[2];
}

TEST(Representations, are_blamed_where_a_stale_one_is_scored) {
  SpoilsOutput<HostIndexer> backend([](const ForwardBatch& batch) {
    const IndexOutput& logits = batch.index_outputs->arrays.front();
    float* const last = floats_of(logits, logits.shape[0] * logits.shape[1] - 1);
    for (int unit = 0; unit < 36; ++unit) {
      if (last[unit] == -INFINITY) last[unit] = 0.25f;
    }
  });
  EXPECT_THAT(verified_step(stale_decodes(StepPart::kIndexer), backend).reason,
              HasSubstr("with 0.25; it should be -inf"));
}

TEST(Representations, are_blamed_where_a_fresh_one_is_passed_over) {
  SpoilsOutput<HostIndexer> backend([](const ForwardBatch& batch) {
    float* const first = floats_of(batch.index_outputs->arrays.front(), 0);
    for (int unit = 0; unit < 4; ++unit) first[unit] = -INFINITY;
  });
  EXPECT_THAT(verified_step(stale_decodes(StepPart::kIndexer), backend).reason,
              HasSubstr("is -inf; it was not written"));
}

TEST(Representations, are_blamed_where_scores_beside_a_list_are_another_s) {
  SpoilsOutput<topk::HostSelector> backend([](const ForwardBatch& batch) {
    float* const scores = floats_of(batch.index_outputs->arrays[2], 3);
    std::swap(scores[0], scores[1]);
  });
  EXPECT_THAT(verified_step(stale_decodes(StepPart::kSelect), backend).reason,
              HasSubstr("weighs column 0, unit "));
}

}  // namespace
}  // namespace attnbench::indexer
