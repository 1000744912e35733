// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// The largest q.k of each unit of keys, and the units that are taken by it.
#include "backends/indexer/maxima.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include "backends/indexer/indexer.h"
#include "backends/testing/select_conformance.h"
#include "backends/testing/spoils_output.h"
#include "backends/topk/topk.h"
#include "lib/batch/index_scores.h"
#include "lib/batch/key_set.h"

namespace attnbench::indexer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

/// One decode of one group whose keys have these scores, in units of 2, of which it takes 2.
class SixKeys {
 public:
  explicit SixKeys(int keys) {
    problem_.layer.selection = {
        .topk = 2, .unit = 2, .score = SelectionScore::kMax, .index_heads = 1};
    store(DType::kBF16, query_.data(), 1);
    for (int i = 0; i < keys; ++i) {
      store(DType::kBF16, cache_.data() + i * IndexerInputs::kDim * 2,
            scores_[static_cast<std::size_t>(i)]);
    }
    units_[0] = (keys + 1) / 2;
    inputs_ = {.q = query_.data(),
               .cache = cache_.data(),
               .row_lens = units_,
               .tokens = 1,
               .heads = 1,
               .pages = 1,
               .page_size = 6};
    batch_.forward_mode = ForwardMode::kDecode;
    batch_.batch_size = 1;
    batch_.seq_lens = {keys};
    batch_.problem = &problem_;
    device_.qo_indptr = qo_indptr_;
    device_.block_table = &page_;
    device_.block_table_width = 1;
    batch_.device_batch = &device_;
  }

  std::vector<float> logits() {
    std::vector<float> logits(3, -99);
    IndexOutputs outputs;
    outputs.arrays = {
        {"logits", {1, 1, 3}, static_cast<std::int32_t*>(static_cast<void*>(logits.data()))}};
    batch_.indexer = &inputs_;
    batch_.index_outputs = &outputs;
    plan_maxima(batch_)->run(*stream_);
    return logits;
  }
  std::vector<std::int32_t> list() {
    const std::vector<float> scores = logits();
    const IndexScores in{
        .logits = scores.data(), .row_lens = units_, .tokens = 1, .groups = 1, .columns = 3};
    std::vector<std::int32_t> list(2), length(1);
    IndexOutputs outputs;
    outputs.arrays = {{"topk_indices", {1, 1, 2}, list.data()},
                      {"topk_length", {1, 1}, length.data()}};
    batch_.index_scores = &in;
    batch_.index_outputs = &outputs;
    PlanMemory memory(*cpu_);
    topk::HostSelector().plan(batch_, memory)->run(*stream_);
    return list;
  }
  std::vector<std::int64_t> keys() {
    const ChosenKeys chosen{.indices = list(), .lengths = {2}, .width = 2, .unit = 2};
    const KeySet set(problem_.layer, {.q_len = 1, .kv_len = batch_.seq_lens[0]}, chosen);
    std::vector<std::int64_t> keys;
    for (const KeyRun& run : set.runs(0, 0)) {
      for (std::int64_t key = run.begin; key < run.end; ++key) keys.push_back(key);
    }
    return keys;
  }

 private:
  std::vector<float> scores_{3, 0, 1, 1, -5, -5};
  std::vector<std::byte> query_ = std::vector<std::byte>(IndexerInputs::kDim * 2);
  std::vector<std::byte> cache_ = std::vector<std::byte>(6 * IndexerInputs::kDim * 2);
  std::int32_t units_[1] = {}, qo_indptr_[2] = {0, 1}, page_ = 0;
  IndexerInputs inputs_;
  Problem problem_;
  DeviceBatch device_;
  ForwardBatch batch_;
  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = cpu_->make_stream();
};

TEST(Maxima, take_the_units_of_the_largest_products_and_the_query_s_own) {
  EXPECT_THAT(SixKeys(6).logits(), ElementsAre(3, 1, kOwnUnitScore));
  EXPECT_THAT(SixKeys(6).list(), UnorderedElementsAre(2, 0)) << "5 sees all";
  EXPECT_THAT(SixKeys(6).keys(), UnorderedElementsAre(0, 1, 4, 5));
  EXPECT_THAT(SixKeys(5).keys(), UnorderedElementsAre(0, 1, 4)) << "4 sees half of its own unit";
  EXPECT_THAT(SixKeys(2).list(), ElementsAre(0, -1)) << "1 sees one unit";
}

/// The small cases with a selection, and a long decode, by maxima of units of each KV head.
std::vector<Case> cases_of_maxima() {
  std::vector<Case> cases = small_selections();
  std::erase_if(cases, [](const Case& c) { return c.layer.selection.is_hierarchical(); });
  cases.push_back(conformance::selecting_decodes(16, {1, 127, 128, 129, 1000, 4097}));
  for (std::size_t i = 0; i < cases.size(); ++i) {
    Selection& selection = cases[i].layer.selection;
    selection.score = SelectionScore::kMax;
    selection.tail = SelectionTail::kCounted;
    selection.unit = i % 2 == 0 ? 8 : 128;
    selection.groups = i % 3 == 0 ? SelectionGroups::kOne : SelectionGroups::kKvHeads;
    selection.index_heads = cases[i].layer.selection_groups();
    cases[i] = with_step(cases[i], StepPart::kIndexer);
  }
  std::erase_if(cases, [](const Case& c) { return !why_not_built(c, c.step).empty(); });
  return cases;
}

Verification verified(const Case& c, Backend& backend) {
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  VerifyConfig verify;
  verify.fills = {Fill::kNormal, Fill::kNeedle, Fill::kTiming};
  return verify_backend(c, backend, fixture, *device, compute_truth(c, verify));
}

TEST(Maxima, of_all_small_cases_lie_within_their_bounds) {
  int taken = 0;
  for (const Case& c : cases_of_maxima()) {
    HostIndexer backend;
    const Verification found = verified(c, backend);
    EXPECT_EQ(found.verdict, Verdict::kPassed) << c.id << ": " << found.reason;
    EXPECT_GT(found.slots_checked, 0) << c.id;
    ++taken;
  }
  EXPECT_GT(taken, 3);
}

/// Two groups, in units of 8: each row of logits with how many units it sees.
std::string reason_of(const std::function<void(float* row, std::int64_t units)>& spoil) {
  Case c = conformance::selecting_decodes(4, {50, 300});
  c.layer.selection = {.topk = 4,
                       .unit = 8,
                       .groups = SelectionGroups::kKvHeads,
                       .score = SelectionScore::kMax,
                       .index_heads = c.layer.heads_kv};
  SpoilsOutput<HostIndexer> backend([&](const ForwardBatch& batch) {
    const IndexOutput& logits = batch.index_outputs->arrays.front();
    for (std::int64_t row = 0; row < logits.shape[0] * logits.shape[1]; ++row) {
      auto* const first = static_cast<float*>(static_cast<void*>(logits.data));
      spoil(first + row * logits.shape[2], batch.indexer->row_lens[row / logits.shape[1]]);
    }
  });
  return verified(with_step(c, StepPart::kIndexer), backend).reason;
}

TEST(Maxima, are_blamed_where_they_are_no_maxima) {
  EXPECT_EQ(reason_of([](float*, std::int64_t) {}), "");
  EXPECT_EQ(reason_of([](float* row, std::int64_t units) {
              row[units - 1] = std::numeric_limits<float>::infinity();
            }),
            "")
      << "the query's own unit is above all";
  EXPECT_THAT(reason_of([](float* row, std::int64_t units) { row[units - 1] = 7; }),
              HasSubstr("scores the query's own unit with 7; it should be 1e+29 or more"));
  EXPECT_THAT(reason_of([](float* row, std::int64_t) { row[2] *= 1.01f; }),
              HasSubstr(" scores unit 2 with "));
  EXPECT_THAT(reason_of([](float* row, std::int64_t units) { row[0] = row[units - 2]; }),
              HasSubstr(" scores unit 0 with "));
}

}  // namespace
}  // namespace attnbench::indexer
