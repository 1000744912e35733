// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/plugin_indices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "lib/batch/draft_tree.h"
#include "lib/batch/kv_pool.h"
#include "lib/index/testing/test_batch.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kIndexPage = 4;

/// A batch with what a fixture adds to it.
struct Step : TestBatch {
  Step(ForwardMode mode, const std::vector<std::vector<std::int32_t>>& slots,
       const std::vector<std::int32_t>& q_lens, std::int64_t max_context_len = 64)
      : TestBatch(mode, slots, q_lens, max_context_len) {
    problem.mode = mode;
    problem.layer.heads_q = 4;
    problem.layer.heads_kv = 2;
    problem.layer.sliding_window_size = 3;
    problem.layer.causal = true;
    problem.layer.attention_chunk = 8;
    problem.cache.page_size = kIndexPage;
    problem.limits = {2, 1, 2, 24};
    pool.num_pages = 20;
    batch.problem = &problem;
    batch.token_to_kv_pool = &pool;
    for (std::size_t r = 0; r < slots.size(); ++r) {
      const std::int64_t first = std::ssize(slots[r]) - q_lens[r];
      for (std::int64_t t = first; t < std::ssize(slots[r]); ++t) {
        batch.out_cache_loc.push_back(slots[r][static_cast<std::size_t>(t)]);
        batch.positions.push_back(t);
      }
    }
  }

  Problem problem;
  KvPool pool;
};

struct Decode : Step {
  Decode(std::int32_t first, std::int32_t second)
      : Step(ForwardMode::kDecode,
             {slots_from(7, kIndexPage, first), slots_from(2, kIndexPage, second)}, {1, 1}) {}
};

class PluginIndicesTest : public testing::Test {
 protected:
  /// What a plug-in is answered; its message in message().
  int ask(const char* format) {
    first_ = nullptr;
    message_[0] = '\0';
    return PluginIndices::build(&indices_, format, &first_, message_.data(), message_.size());
  }
  [[nodiscard]] std::string message() const { return message_.data(); }
  [[nodiscard]] const attnbench_index& array(std::string_view name) const {
    const attnbench_index* at = first_;
    while (name != at->name) at = at->next;
    return *at;
  }
  [[nodiscard]] std::vector<std::int32_t> ints(std::string_view name) const {
    const attnbench_tensor& tensor = array(name).tensor;
    const auto* const first = static_cast<const std::int32_t*>(tensor.data);
    return {first, first + tensor.shape[0] * (tensor.rank == 2 ? tensor.shape[1] : 1)};
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  std::unique_ptr<Stream> stream_ = device_->make_stream();
  PlanMemory memory_{*device_};
  PluginIndices indices_{memory_};
  const attnbench_index* first_ = nullptr;
  std::array<char, 200> message_{};
};

TEST_F(PluginIndicesTest, of_every_format_are_the_table_s_on_the_device_and_on_the_host) {
  Decode decode(5, 9);
  Step verify(ForwardMode::kTargetVerify,
              {slots_from(7, kIndexPage, 8), slots_from(2, kIndexPage, 5)}, {3, 3});
  verify.batch.seq_lens = {5, 2};
  verify.batch.spec_info =
      make_spec_info(std::vector<std::vector<int>>(2, {-1, 0, 0}), verify.batch.seq_lens);
  Decode latent(5, 9);
  latent.problem.layer.family = Family::kLatent;
  latent.problem.cache.page_size = 64;
  std::size_t applied = 0;
  for (Step* step : {static_cast<Step*>(&decode), &verify, static_cast<Step*>(&latent)}) {
    const PluginIndices::Call call(indices_, step->batch, nullptr);
    for (const IndexFormat& format : index_formats()) {
      SCOPED_TRACE(format.name);
      const BuiltIndices want = build_indices(format, {step->batch, step->problem, 20});
      const int status = ask(std::string(format.name).c_str());
      ASSERT_EQ(status, want.why_not.empty() ? ATTNBENCH_OK : ATTNBENCH_UNSUPPORTED);
      EXPECT_EQ(message(), want.why_not);
      const attnbench_index* at = first_;
      for (const IndexArray& array : want.arrays) {
        ASSERT_NE(at, nullptr);
        EXPECT_STREQ(at->name, array.name);
        EXPECT_EQ(at->struct_size, sizeof *at);
        EXPECT_EQ(std::vector(at->tensor.shape, at->tensor.shape + at->tensor.rank), array.shape);
        const auto bytes = array.bytes();
        if (array.is_number()) {
          EXPECT_EQ(at->number, array.widened()[0]);
        }
        if (!bytes.empty()) {
          EXPECT_EQ(std::memcmp(at->tensor.data, bytes.data(), bytes.size()), 0);
          EXPECT_EQ(std::memcmp(at->host, bytes.data(), bytes.size()), 0);
          EXPECT_NE(at->host, at->tensor.data);
        }
        at = at->next;
      }
      EXPECT_EQ(at, nullptr);
      applied += want.why_not.empty() ? 1u : 0u;
    }
  }
  EXPECT_GE(applied, index_formats().size());
  EXPECT_TRUE(memory_.guards_intact());
  EXPECT_FALSE(memory_.all_memory().empty());
}

TEST_F(PluginIndicesTest, of_a_step_that_builds_them_are_memory_to_write_to) {
  Decode decode(5, 9);
  std::vector<std::int32_t> starts(3, -1), pages(5, -1);
  const IndexOutputs outputs{
      IndexForm::kCsr, {{"kv_indptr", {3}, starts.data()}, {"kv_indices", {5}, pages.data()}}};
  decode.batch.index_outputs = &outputs;
  const PluginIndices::Call call(indices_, decode.batch, nullptr);
  ASSERT_EQ(ask("csr"), ATTNBENCH_OK);
  EXPECT_EQ(array("kv_indptr").tensor.data, starts.data());
  EXPECT_EQ(array("kv_indices").tensor.shape[0], 5);
  EXPECT_EQ(array("kv_indices").tensor.stride[0], 1);
  EXPECT_EQ(array("kv_indices").host, nullptr);
  EXPECT_EQ(array("kv_indices").next, nullptr);
  EXPECT_THAT(ints("kv_indices"), testing::Each(-1)) << "the answer is the plug-in's to find";
  EXPECT_EQ(ask("page_table"), ATTNBENCH_UNSUPPORTED);
  EXPECT_EQ(message(), "a step that builds csr has no other arrays");
}

TEST_F(PluginIndicesTest, are_refused_with_a_name_that_is_near_and_outside_of_calls) {
  const Decode decode(5, 9);
  {
    const PluginIndices::Call call(indices_, decode.batch, nullptr);
    EXPECT_EQ(ask("page_tabel"), ATTNBENCH_ERROR);
    EXPECT_EQ(message(), "there is no index format 'page_tabel'; did you mean 'page_table'?");
    EXPECT_EQ(ask(nullptr), ATTNBENCH_ERROR);
    EXPECT_THAT(message(), HasSubstr("known: req_to_token csr"));
    EXPECT_EQ(ask("tree_mask"), ATTNBENCH_UNSUPPORTED);
    EXPECT_EQ(message(), "only a target_verify step has a draft tree");
    EXPECT_EQ(first_, nullptr);
  }
  EXPECT_EQ(ask("csr"), ATTNBENCH_ERROR);
  EXPECT_EQ(message(), "index arrays are built in plan() and update() alone");
}

TEST_F(PluginIndicesTest, of_triton_s_splits_need_a_key_in_every_request) {
  Decode decode(5, 9);
  decode.batch.seq_lens[1] = 0;
  const PluginIndices::Call call(indices_, decode.batch, nullptr);
  EXPECT_EQ(ask("kv_splits"), ATTNBENCH_UNSUPPORTED);
  EXPECT_EQ(message(), "Triton's rules divide by the shortest request, which is empty");
}

TEST_F(PluginIndicesTest, of_the_next_step_lie_where_those_of_the_plan_did) {
  Decode recorded(1, 1), step(13, 9);
  recorded.problem.recorded = step.problem.recorded = true;
  const void* places[3] = {};
  {
    const PluginIndices::Call call(indices_, recorded.batch, nullptr);
    ASSERT_EQ(ask("page_table"), ATTNBENCH_OK);
    places[0] = array("page_table").tensor.data;
    EXPECT_EQ(array("page_table").tensor.stride[0], 6) << "max_kv_len 24";
    ASSERT_EQ(ask("csr"), ATTNBENCH_OK);
    places[1] = array("kv_indices").tensor.data;
    places[2] = array("kv_last_page_len").tensor.data;
    EXPECT_THAT(ints("kv_indices"), ElementsAre(7, 2));
  }
  const PluginIndices::Call call(indices_, step.batch, stream_.get());
  ASSERT_EQ(ask("page_table"), ATTNBENCH_OK) << message();
  EXPECT_EQ(array("page_table").tensor.data, places[0]);
  EXPECT_THAT(ints("page_table"), ElementsAre(7, 8, 9, 10, -1, -1, 2, 3, 4, -1, -1, -1));
  ASSERT_EQ(ask("csr"), ATTNBENCH_OK) << message();
  EXPECT_EQ(array("kv_indices").tensor.data, places[1]);
  EXPECT_EQ(array("kv_last_page_len").tensor.data, places[2]);
  EXPECT_THAT(ints("kv_indices"), ElementsAre(7, 8, 9, 10, 2, 3, 4));
  EXPECT_THAT(ints("kv_last_page_len"), ElementsAre(1, 1));
  EXPECT_EQ(ask("varlen"), ATTNBENCH_ERROR);
  EXPECT_THAT(message(), HasSubstr("asks for the index arrays of 'varlen', for which plan()"));
}

TEST_F(PluginIndicesTest, of_the_longest_recorded_step_have_room) {
  // 40 requests: what grows does so beyond the alignment of its place. Queries 991 to 993 of the
  // longest draft chains lie in two chunks of 8.
  constexpr std::int32_t kRequests = 40, kNodes = 3, kLongest = 994;
  const auto step_of = [&](ForwardMode mode, std::int32_t kv_len) {
    const std::int32_t q_len = mode == ForwardMode::kDecode ? 1 : kNodes;
    auto step =
        std::make_unique<Step>(mode, std::vector(kRequests, slots_from(1, kIndexPage, kv_len)),
                               std::vector<std::int32_t>(kRequests, q_len), kLongest);
    step->problem.limits = {kRequests, q_len, kRequests * q_len, kLongest};
    step->problem.recorded = true;
    step->pool.num_pages = 300;
    if (mode == ForwardMode::kDecode) return step;
    step->batch.seq_lens.assign(kRequests, kv_len - q_len);
    step->batch.spec_info =
        make_spec_info(std::vector<std::vector<int>>(kRequests, {-1, 0, 1}), step->batch.seq_lens);
    return step;
  };
  for (const ForwardMode mode : {ForwardMode::kDecode, ForwardMode::kTargetVerify}) {
    const auto recorded = step_of(mode, 4), longest = step_of(mode, kLongest);
    for (const IndexFormat& format : index_formats()) {
      SCOPED_TRACE(format.name);
      const std::string name(format.name);
      int planned = ATTNBENCH_ERROR;
      {
        const PluginIndices::Call call(indices_, recorded->batch, nullptr);
        planned = ask(name.c_str());
        ASSERT_NE(planned, ATTNBENCH_ERROR) << message();
      }
      const PluginIndices::Call call(indices_, longest->batch, stream_.get());
      EXPECT_EQ(ask(name.c_str()), planned) << message();
    }
  }
  EXPECT_TRUE(memory_.guards_intact());
}

TEST_F(PluginIndicesTest, make_a_virtual_request_without_keys_of_one_that_fills_a_batch_up) {
  Decode decode(5, 9);
  decode.batch.batch_size = 3;
  decode.batch.req_pool_indices.push_back(0);
  decode.batch.seq_lens.push_back(0);
  decode.batch.out_cache_loc.push_back(0);
  decode.batch.positions.push_back(0);
  const PluginIndices::Call call(indices_, decode.batch, nullptr);
  ASSERT_EQ(ask("local_attention"), ATTNBENCH_OK) << message();
  EXPECT_THAT(ints("local_query_start_loc"), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(ints("local_seqused_k"), ElementsAre(5, 1, 0));
}

TEST_F(PluginIndicesTest, leave_padding_on_the_dummy_page_of_a_window_s_own_pool) {
  Decode decode(5, 9);
  decode.batch.batch_size = 3;  // as a bucket is filled up: row 0, slot 0
  decode.batch.req_pool_indices.push_back(0);
  decode.batch.seq_lens.push_back(1);
  decode.batch.out_cache_loc.push_back(0);
  decode.batch.positions.push_back(0);
  const PluginIndices::Call call(indices_, decode.batch, nullptr);
  ASSERT_EQ(ask("swa"), ATTNBENCH_OK) << message();
  // Key 8 begins a chunk: of the second request's pages the third alone is left.
  EXPECT_THAT(ints("swa_page_table"), ElementsAre(1, 2, -1, 0, 0, 3, 0, -1, -1));
}

}  // namespace
}  // namespace attnbench
