// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Scores of the labels of keys, and the keys that are taken by them.
#include "backends/indexer/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
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
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr int kDim = IndexerInputs::kDim;

/// Worked by hand: 3 keys, two KV heads with channels (3, 0) and (1, 2), two query heads each. The
/// keys of the first have labels (1, 2), (0, 3), (4, 0), those of the second (5, 0), (0, 6), (1,
/// 1). Query heads have the elements (1, 2, 0, 3), (0, 1, 0, -1), (0, 1, 1, 0) and (9, 0, 2, 9).
class ThreeKeys {
 public:
  explicit ThreeKeys(SelectionGroups groups, std::int64_t topk = 1) {
    problem_.layer.heads_q = 4;
    problem_.layer.heads_kv = 2;
    problem_.layer.scale = 0.5;
    problem_.layer.selection = {.topk = topk,
                                .groups = groups,
                                .score = SelectionScore::kChannels,
                                .index_heads = 4,
                                .channels = 2};
    const float queries[4][4] = {{1, 2, 0, 3}, {0, 1, 0, -1}, {0, 1, 1, 0}, {9, 0, 2, 9}};
    for (int head = 0; head < 4; ++head) {
      for (int d = 0; d < 4; ++d) {
        store(DType::kBF16, queries_.data() + (head * kDim + d) * 2, queries[head][d]);
      }
    }
    const float labels[3][2][2] = {{{1, 2}, {5, 0}}, {{0, 3}, {0, 6}}, {{4, 0}, {1, 1}}};
    std::byte* to = cache_.data();
    for (const auto& key : labels) {
      for (const auto& label : key) {
        for (const float element : label) store(DType::kBF16, std::exchange(to, to + 2), element);
      }
    }
    batch_.forward_mode = ForwardMode::kDecode;
    batch_.batch_size = 1;
    batch_.seq_lens = {3};
    batch_.problem = &problem_;
    device_.qo_indptr = qo_indptr_;
    device_.block_table = &page_;
    device_.block_table_width = 1;
    batch_.device_batch = &device_;
  }

  /// A row for each list.
  std::vector<std::vector<float>> logits() {
    const IndexerInputs inputs{.q = queries_.data(),
                               .cache = cache_.data(),
                               .row_lens = &seen_,
                               .tokens = 1,
                               .heads = 4,
                               .pages = 1,
                               .page_size = 4,
                               .channels = channels_};
    scores_.assign(static_cast<std::size_t>(lists() * 4), -99);
    IndexOutputs outputs;
    outputs.arrays = {{"logits",
                       {1, lists(), 4},
                       static_cast<std::int32_t*>(static_cast<void*>(scores_.data()))}};
    batch_.indexer = &inputs;
    batch_.index_outputs = &outputs;
    plan_labels(batch_)->run(*stream_);
    std::vector<std::vector<float>> rows;
    for (auto row = scores_.begin(); row != scores_.end(); row += 4) {
      EXPECT_EQ(row[3], -99) << "there is no fourth key";
      rows.emplace_back(row, row + 3);
    }
    return rows;
  }

  /// The list of each row, and how many entries count.
  std::vector<std::pair<std::vector<std::int32_t>, std::int32_t>> lists_taken() {
    (void)logits();
    const std::int64_t topk = problem_.layer.selection.topk;
    const IndexScores in{
        .logits = scores_.data(), .row_lens = &seen_, .tokens = 1, .groups = lists(), .columns = 4};
    std::vector<std::int32_t> keys(static_cast<std::size_t>(lists() * topk)),
        lengths(static_cast<std::size_t>(lists()));
    IndexOutputs outputs;
    outputs.arrays = {{"topk_indices", {1, lists(), topk}, keys.data()},
                      {"topk_length", {1, lists()}, lengths.data()}};
    batch_.index_scores = &in;
    batch_.index_outputs = &outputs;
    PlanMemory memory(*cpu_);
    topk::HostSelector().plan(batch_, memory)->run(*stream_);
    std::vector<std::pair<std::vector<std::int32_t>, std::int32_t>> taken;
    for (std::int64_t list = 0; list < lists(); ++list) {
      const auto first = keys.begin() + list * topk;
      taken.push_back({{first, first + topk}, lengths[static_cast<std::size_t>(list)]});
    }
    return taken;
  }

 private:
  [[nodiscard]] std::int64_t lists() const { return problem_.layer.selection_groups(); }

  std::vector<std::byte> queries_ = std::vector<std::byte>(4 * kDim * 2);
  std::vector<std::byte> cache_ = std::vector<std::byte>(4 * 2 * 2 * 2);
  std::vector<float> scores_;
  std::int32_t seen_ = 3, qo_indptr_[2] = {0, 1}, page_ = 0;
  std::int32_t channels_[4] = {3, 0, 1, 2};
  Problem problem_;
  DeviceBatch device_;
  ForwardBatch batch_;
  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = cpu_->make_stream();
};

// Head 0 has (3, 1) in the channels of its KV head, head 1 (-1, 0), head 2 (1, 1), head 3 (0, 2).
TEST(Labels, are_scored_by_each_head_in_the_channels_of_its_kv_head) {
  EXPECT_THAT(ThreeKeys(SelectionGroups::kHeads).logits(),
              ElementsAre(ElementsAre(2.5, 1.5, 6), ElementsAre(-0.5, 0, -2),
                          ElementsAre(2.5, 3, 1), ElementsAre(0, 6, 1)));
}

TEST(Labels, of_shared_lists_are_scored_by_the_best_of_their_heads) {
  EXPECT_THAT(ThreeKeys(SelectionGroups::kKvHeads).logits(),
              ElementsAre(ElementsAre(2.5, 1.5, 6), ElementsAre(2.5, 6, 1)));
  EXPECT_THAT(ThreeKeys(SelectionGroups::kOne).logits(), ElementsAre(ElementsAre(2.5, 6, 6)));
}

TEST(Labels, of_the_highest_scores_are_taken_by_each_head) {
  const auto taken = ThreeKeys(SelectionGroups::kHeads).lists_taken();
  EXPECT_THAT(taken, ElementsAre(Pair(ElementsAre(2), 1), Pair(ElementsAre(1), 1),
                                 Pair(ElementsAre(1), 1), Pair(ElementsAre(1), 1)));
}

TEST(Labels, of_no_more_keys_than_entries_are_all_taken) {
  for (const auto& [keys, length] : ThreeKeys(SelectionGroups::kHeads, 3).lists_taken()) {
    EXPECT_THAT(keys, UnorderedElementsAre(0, 1, 2));
    EXPECT_EQ(length, 3);
  }
}

/// Decodes by labels of so many channels.
Case decodes_by_labels(SelectionGroups groups, int channels, int page_size) {
  Case c = conformance::selecting_decodes(16, {1, 127, 128, 129, 1000, 4097});
  c.layer.selection.groups = groups;
  c.layer.selection.score = SelectionScore::kChannels;
  c.layer.selection.index_heads = c.layer.heads_q;
  c.layer.selection.channels = channels;
  c.kv_cache.page_size = c.kv_cache.manager_page_size = page_size;
  return with_step(c, StepPart::kIndexer);
}

Verification verified_labels(const Case& c, Backend& backend) {
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  VerifyConfig verify;
  verify.fills = {Fill::kNormal, Fill::kNeedle, Fill::kTiming};
  return verify_backend(c, backend, fixture, *device, compute_truth(c, verify));
}

TEST(Labels, of_every_grouping_and_width_lie_within_their_bounds) {
  for (const SelectionGroups groups : kSelectionGroups) {
    for (const auto& [channels, page_size] : {std::pair{1, 64}, {32, 16}, {kDim, 1}}) {
      const Case c = decodes_by_labels(groups, channels, page_size);
      HostIndexer backend;
      const Verification found = verified_labels(c, backend);
      EXPECT_EQ(found.verdict, Verdict::kPassed)
          << to_string(groups) << " " << channels << ": " << found.reason;
      EXPECT_GT(found.slots_checked, 0);
    }
  }
}

/// What a backend must not rest on: it reads inputs of its own, which may be changed.
class MisledIndexer final : public Backend {
 public:
  using Misleading = std::function<void(std::vector<std::int32_t>& channels, Problem& problem)>;
  explicit MisledIndexer(Misleading misleading) : misleading_(std::move(misleading)) {}
  [[nodiscard]] const BackendInfo& info() const noexcept override { return honest_.info(); }
  [[nodiscard]] Support supports(const Problem& problem) const override {
    return honest_.supports(problem);
  }
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory&) override {
    struct Misled final : Plan {
      Misled(const ForwardBatch& from, const Misleading& misleading)
          : batch(from), problem(*from.problem), inputs(*from.indexer) {
        const std::int64_t count =
            std::int64_t{problem.layer.heads_kv} * problem.layer.selection.channels;
        channels.assign(inputs.channels, inputs.channels + count);
        misleading(channels, problem);
        inputs.channels = channels.data();
        batch.problem = &problem;
        batch.indexer = &inputs;
        honest = plan_labels(batch);
      }
      void run(Stream& stream) override { honest->run(stream); }
      ForwardBatch batch;
      Problem problem;
      IndexerInputs inputs;
      std::vector<std::int32_t> channels;
      std::unique_ptr<Plan> honest;
    };
    return std::make_unique<Misled>(batch, misleading_);
  }

 private:
  Misleading misleading_;
  HostIndexer honest_;
};

std::string reason_of(const MisledIndexer::Misleading& misleading) {
  const Case c = decodes_by_labels(SelectionGroups::kHeads, 32, 16);
  MisledIndexer backend(misleading);
  return verified_labels(c, backend).reason;
}

TEST(Labels, are_blamed_where_channels_or_heads_are_their_neighbours) {
  EXPECT_EQ(reason_of([](auto&, auto&) {}), "");
  EXPECT_THAT(reason_of([](auto& channels, auto&) {
                for (std::int32_t& channel : channels) channel = (channel + 1) % kDim;
              }),
              HasSubstr(" scores key 0 with "))
      << "the element beside the channel's";
  EXPECT_THAT(reason_of([](auto& channels, auto&) {
                std::ranges::rotate(channels, channels.begin() + 32);
              }),
              HasSubstr(" scores key 0 with "))
      << "the channels of the next KV head";
  EXPECT_THAT(reason_of([](auto& channels, auto&) { channels[31] = channels[30]; }),
              HasSubstr(" scores key 0 with "))
      << "one channel of one KV head";
  EXPECT_THAT(reason_of([](auto&, Problem& problem) { problem.layer.scale *= 1.001; }),
              HasSubstr(" scores key 0 with "))
      << "another scale";
}

TEST(Labels, are_blamed_where_the_row_is_that_of_the_next_head) {
  SpoilsOutput<HostIndexer> backend([](const ForwardBatch& batch) {
    const IndexOutput& logits = batch.index_outputs->arrays.front();
    auto* const first = static_cast<float*>(static_cast<void*>(logits.data));
    std::swap_ranges(first, first + batch.indexer->row_lens[0], first + logits.shape[2]);
  });
  EXPECT_THAT(verified_labels(decodes_by_labels(SelectionGroups::kHeads, 32, 16), backend).reason,
              HasSubstr("row 0 scores key 0 with "));
}

}  // namespace
}  // namespace attnbench::indexer
