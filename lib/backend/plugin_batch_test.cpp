// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/plugin_batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "lib/batch/draft_tree.h"
#include "lib/batch/graph_padding.h"
#include "lib/batch/req_to_token_pool.h"
#include "lib/batch/token_to_kv_pool.h"
#include "lib/index/host_indices.h"

namespace attnbench {
namespace {

constexpr std::int64_t kPageSize = 4;

/// Two decodes with 5 and 9 keys, on pages 7 3 and 1 5 2.
std::vector<std::int64_t> shape_of(const attnbench_tensor& tensor) {
  return {tensor.shape, tensor.shape + tensor.rank};
}

class PluginBatchTest : public testing::Test {
 protected:
  PluginBatchTest() {
    problem_.layer.heads_q = 4;
    problem_.layer.heads_kv = 2;
    problem_.layer.head_dim_qk = problem_.layer.head_dim_v = 8;
    problem_.layer.sliding_window_size = 100;
    problem_.dtype = DType::kBF16;
    problem_.cache = {DType::kE4M3, KvLayout::kHnd, kPageSize};
    problem_.limits = {2, 1, 2, 9};
    batch_.problem = &problem_;
    batch_.forward_mode = ForwardMode::kDecode;
    batch_.batch_size = 2;
    batch_.seq_lens = {5, 9};
    batch_.req_pool_indices = {1, 3};
    batch_.positions = {4, 8};
    batch_.out_cache_loc = {12, 8};
    const std::vector<std::vector<int>> pages{{7, 3}, {1, 5, 2}};
    for (std::size_t r = 0; r < pages.size(); ++r) {
      const auto row = rows_.row(batch_.req_pool_indices[r]);
      for (std::int32_t key = 0; key < batch_.seq_lens[r]; ++key) {
        const auto page = static_cast<std::size_t>(key / kPageSize);
        row[static_cast<std::size_t>(key)] =
            static_cast<std::int32_t>(pages[r][page] * kPageSize + key % kPageSize);
      }
    }
    batch_.req_to_token_pool = &rows_;
    pool_ = kv_pool_view(std::vector{memory_.data(), memory_.data()},
                         {{DType::kE4M3, KvLayout::kHnd, kPageSize, KvScales::kTensor},
                          8,
                          Family::kSoftmax,
                          2,
                          8,
                          8});
    pool_.k_scale = 0.5f;
    batch_.token_to_kv_pool = &pool_;
    batch_.tensors.q = ConstTensorView::dense(memory_.data(), DType::kBF16, 2, 4, 8);
    batch_.tensors.lse = TensorView::dense(memory_.data(), DType::kF32, 2, 4, 1);
    indices_.emplace(batch_, kPageSize);
    batch_.device_batch = &indices_->batch();
  }

  template <class T>
  [[nodiscard]] static std::vector<T> values(const attnbench_tensor& tensor) {
    std::int64_t count = 1;
    for (int d = 0; d < tensor.rank; ++d) count *= tensor.shape[d];
    const auto* const first = static_cast<const T*>(tensor.data);
    return {first, first + count};
  }

  std::unique_ptr<Device> device_ = make_cpu_device(1);
  Problem problem_;
  ReqToTokenPool rows_{4, 16};
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096);
  KvPool pool_;
  ForwardBatch batch_;
  std::optional<HostIndices> indices_;
  PlanMemory plan_memory_{*device_};
  PluginIndices arrays_{plan_memory_};
};

TEST_F(PluginBatchTest, has_the_index_arrays_of_both_engines) {
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_batch& view = plugin.view();
  const auto ints = [&](int role) { return values<std::int32_t>(view.tensors[role]); };
  EXPECT_EQ(ints(ATTNBENCH_BLOCK_TABLE), (std::vector<std::int32_t>{7, 3, -1, 1, 5, 2}));
  EXPECT_EQ(ints(ATTNBENCH_SEQ_LENS), (std::vector<std::int32_t>{5, 9}));
  EXPECT_EQ(ints(ATTNBENCH_QUERY_START_LOC), (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(ints(ATTNBENCH_REQ_POOL_INDICES), (std::vector<std::int32_t>{1, 3}));
  EXPECT_EQ(values<std::int64_t>(view.tensors[ATTNBENCH_SLOT_MAPPING]),
            (std::vector<std::int64_t>{12, 8}));
  const attnbench_tensor& rows = view.tensors[ATTNBENCH_REQ_TO_TOKEN];
  EXPECT_EQ(static_cast<const std::int32_t*>(rows.data)[3 * rows.stride[0] + 8], 2 * kPageSize);
  EXPECT_EQ(view.tensors[ATTNBENCH_CUSTOM_MASK].data, nullptr);
  EXPECT_EQ(view.kv_lens[1], 9);
  EXPECT_EQ(view.q_lens[1], 1);
}

TEST_F(PluginBatchTest, has_more_rows_than_its_requests_have_tokens_where_a_step_is_filled_up) {
  batch_ = with_padding_tokens(batch_, 3);
  batch_.tensors.q = ConstTensorView::dense(memory_.data(), DType::kBF16, 5, 4, 8);
  const HostIndices indices(batch_, kPageSize);
  batch_.device_batch = &indices.batch();
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_batch& view = plugin.view();
  EXPECT_EQ(view.batch_size, 2);
  EXPECT_EQ(view.q_tokens, 5);
  EXPECT_EQ(view.q_lens[0] + view.q_lens[1], 2);
  EXPECT_EQ(view.tensors[ATTNBENCH_Q].shape[0], 5);
  EXPECT_EQ(values<std::int32_t>(view.tensors[ATTNBENCH_QUERY_START_LOC]),
            (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(values<std::int64_t>(view.tensors[ATTNBENCH_SLOT_MAPPING]),
            (std::vector<std::int64_t>{12, 8, 0, 0, 0}));
  EXPECT_EQ(values<std::int64_t>(view.tensors[ATTNBENCH_POSITIONS]),
            (std::vector<std::int64_t>{4, 8, 0, 0, 0}));
}

TEST_F(PluginBatchTest, has_the_cache_with_strides_that_say_its_layout) {
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_tensor& k = plugin.view().tensors[ATTNBENCH_K_CACHE];
  EXPECT_EQ(k.dtype, ATTNBENCH_E4M3);
  EXPECT_TRUE(std::equal(k.shape, k.shape + 4, std::vector<std::int64_t>{8, 4, 2, 8}.begin()));
  // HND: a page holds one head's tokens after the other's.
  EXPECT_TRUE(std::equal(k.stride, k.stride + 4, std::vector<std::int64_t>{64, 8, 32, 1}.begin()));
  EXPECT_EQ(plugin.view().k_scale, 0.5f);
}

TEST_F(PluginBatchTest, has_queries_and_lse_as_they_lie) {
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_tensor& q = plugin.view().tensors[ATTNBENCH_Q];
  EXPECT_EQ(q.data, memory_.data());
  EXPECT_EQ(q.dtype, ATTNBENCH_BF16);
  EXPECT_EQ(q.rank, 3);
  EXPECT_EQ(plugin.view().tensors[ATTNBENCH_LSE].rank, 2);
  EXPECT_EQ(plugin.view().tensors[ATTNBENCH_SINKS].data, nullptr);
}

TEST_F(PluginBatchTest, has_queries_that_come_apart_as_two_tensors_and_not_as_one) {
  problem_.layer.queries_apart = true;
  AttentionTensors& tensors = batch_.tensors;
  tensors.q_nope = TensorView::dense(memory_.data(), DType::kBF16, 2, 4, 8).read_only();
  tensors.q_pe = TensorView::dense(memory_.data() + 128, DType::kBF16, 2, 4, 4).read_only();
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_tensor* const given = plugin.view().tensors;
  EXPECT_EQ(plugin.view().problem->queries_apart, 1);
  EXPECT_EQ(given[ATTNBENCH_Q].data, nullptr);
  EXPECT_EQ(given[ATTNBENCH_Q].rank, 0);
  EXPECT_EQ(given[ATTNBENCH_Q_NOPE].data, memory_.data());
  EXPECT_EQ(given[ATTNBENCH_Q_PE].data, memory_.data() + 128);
  EXPECT_EQ(given[ATTNBENCH_Q_PE].shape[2], 4);
}

TEST_F(PluginBatchTest, has_caches_of_other_layouts_and_their_scales_in_their_own_shapes) {
  const std::vector<std::byte*> buffers(4, memory_.data());
  pool_ = kv_pool_view(buffers, {{DType::kE4M3, KvLayout::kXPacked, kPageSize, KvScales::kToken},
                                 2,
                                 Family::kSoftmax,
                                 3,
                                 32,
                                 8});
  const PluginBatch packed(batch_, *device_, arrays_);
  const attnbench_tensor* tensors = packed.view().tensors;
  EXPECT_EQ(shape_of(tensors[ATTNBENCH_K_CACHE]), (std::vector<std::int64_t>{2, 6, kPageSize, 16}));
  EXPECT_EQ(shape_of(tensors[ATTNBENCH_V_CACHE]), (std::vector<std::int64_t>{2, 3, 8, kPageSize}));
  EXPECT_EQ(shape_of(tensors[ATTNBENCH_V_SCALES]), (std::vector<std::int64_t>{2 * kPageSize, 3}));
  EXPECT_EQ(tensors[ATTNBENCH_K_SCALES].dtype, ATTNBENCH_F32);

  pool_ = kv_pool_view(
      buffers,
      {{DType::kE4M3, KvLayout::kRagged, 1, KvScales::kTensor}, 200, Family::kSoftmax, 3, 32, 8});
  const PluginBatch ragged(batch_, *device_, arrays_);
  tensors = ragged.view().tensors;
  const std::int64_t keys = batch_.kv_len(0) + batch_.kv_len(1);
  EXPECT_EQ(shape_of(tensors[ATTNBENCH_K_CACHE]), (std::vector<std::int64_t>{keys, 3, 32}));
  EXPECT_EQ(shape_of(tensors[ATTNBENCH_V_CACHE]), (std::vector<std::int64_t>{keys, 3, 8}));

  pool_ = kv_pool_view(buffers, {{DType::kE4M3, KvLayout::kNhd, kPageSize, KvScales::kBlock},
                                 2,
                                 Family::kLatent,
                                 1,
                                 576,
                                 512});
  const PluginBatch latent(batch_, *device_, arrays_);
  tensors = latent.view().tensors;
  EXPECT_EQ(shape_of(tensors[ATTNBENCH_K_CACHE]),
            (std::vector<std::int64_t>{2, kPageSize, 1, 656}));
  EXPECT_EQ(tensors[ATTNBENCH_K_CACHE].dtype, ATTNBENCH_U8);
  EXPECT_EQ(tensors[ATTNBENCH_V_CACHE].data, nullptr);
  EXPECT_EQ(tensors[ATTNBENCH_K_SCALES].data, nullptr);
}

// [pages, bytes of a page in use], and the next page begins where a multiple of a row does.
TEST_F(PluginBatchTest, has_a_page_with_scales_behind_its_rows_as_bytes) {
  EXPECT_EQ(plugin_problem([&] {
              problem_.cache.scales = KvScales::kGroup;
              return problem_;
            }())
                .cache_scales,
            ATTNBENCH_SCALES_GROUP);
  pool_ = kv_pool_view(
      std::vector<std::byte*>(1, memory_.data()),
      {{DType::kE4M3, KvLayout::kNhd, 64, KvScales::kGroup}, 3, Family::kLatent, 1, 512, 512});
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_tensor& cache = plugin.view().tensors[ATTNBENCH_K_CACHE];
  EXPECT_EQ(shape_of(cache), (std::vector<std::int64_t>{3, 37376}));
  EXPECT_EQ(cache.stride[0], 37440);
  EXPECT_EQ(cache.stride[1], 1);
  EXPECT_EQ(cache.dtype, ATTNBENCH_U8);
  EXPECT_EQ(plugin.view().tensors[ATTNBENCH_V_CACHE].data, nullptr);
}

TEST_F(PluginBatchTest, has_page_strides_in_tokens_and_in_elements_of_each_layout) {
  EXPECT_EQ(plugin_problem(problem_).page_stride, kPageSize);
  problem_.cache.page_stride = 6;
  EXPECT_EQ(plugin_problem(problem_).page_stride, 6);
  const std::vector<std::byte*> buffers(4, memory_.data());
  const auto page_strides = [&](KvLayout layout, KvScales scales, Family family) {
    const bool latent = family == Family::kLatent;
    pool_ = kv_pool_view(buffers, {{DType::kE4M3, layout, kPageSize, scales, 6},
                                   2,
                                   family,
                                   latent ? 1 : 3,
                                   latent ? 576 : 32,
                                   latent ? 512 : 16});
    const PluginBatch plugin(batch_, *device_, arrays_);
    return std::pair(plugin.view().tensors[ATTNBENCH_K_CACHE].stride[0],
                     plugin.view().tensors[ATTNBENCH_V_CACHE].stride[0]);
  };
  const std::pair<std::int64_t, std::int64_t> plain(6 * 3 * 32, 6 * 3 * 16);
  for (const KvLayout layout : {KvLayout::kNhd, KvLayout::kHnd, KvLayout::kXPacked}) {
    EXPECT_EQ(page_strides(layout, KvScales::kTensor, Family::kSoftmax), plain);
  }
  EXPECT_EQ(page_strides(KvLayout::kNhd, KvScales::kBlock, Family::kLatent).first, 6 * 656);
}

TEST_F(PluginBatchTest, has_the_scales_of_requests_and_of_queries) {
  const std::vector<std::byte*> buffers(4, memory_.data());
  pool_ = kv_pool_view(buffers, {{DType::kE4M3, KvLayout::kNhd, kPageSize, KvScales::kRequest},
                                 2,
                                 Family::kSoftmax,
                                 2,
                                 8,
                                 8,
                                 batch_.batch_size});
  batch_.tensors.q_scales = pool_.k_scales;
  batch_.tensors.q_scale = 0.5f;
  batch_.tensors.out_scale = 2;
  problem_.fp8 = {DType::kE4M3, QScales::kRequest, DType::kE5M2};
  const PluginBatch plugin(batch_, *device_, arrays_);
  for (const int role : {ATTNBENCH_K_SCALES, ATTNBENCH_V_SCALES, ATTNBENCH_Q_SCALES}) {
    const attnbench_tensor& scales = plugin.view().tensors[role];
    EXPECT_EQ(scales.dtype, ATTNBENCH_F32);
    ASSERT_EQ(scales.rank, 2);
    EXPECT_EQ(scales.shape[0], batch_.batch_size);
    EXPECT_EQ(scales.shape[1], plugin.view().problem->heads_kv);
  }
  EXPECT_EQ(plugin.view().q_scale, 0.5f);
  EXPECT_EQ(plugin.view().out_scale, 2);
  EXPECT_EQ(plugin.view().problem->q_dtype, ATTNBENCH_E4M3);
  EXPECT_EQ(plugin.view().problem->out_dtype, ATTNBENCH_E5M2);
  EXPECT_EQ(plugin.view().problem->q_scales, ATTNBENCH_Q_SCALES_REQUEST);
}

TEST_F(PluginBatchTest, has_scales_of_queries_by_head_and_by_token) {
  batch_.tensors.q_scales = &batch_.tensors.q_scale;
  problem_.fp8 = {DType::kE4M3, QScales::kHead, {}};
  const auto shape = [&] {
    return shape_of(PluginBatch(batch_, *device_, arrays_).view().tensors[ATTNBENCH_Q_SCALES]);
  };
  EXPECT_EQ(shape(), (std::vector<std::int64_t>{problem_.layer.heads_kv}));
  problem_.fp8.q_scales = QScales::kToken;
  EXPECT_EQ(shape(), (std::vector<std::int64_t>{batch_.q_tokens(), problem_.layer.heads_q}));
}

TEST_F(PluginBatchTest, has_a_problem_with_the_numbers_of_the_interface) {
  const attnbench_problem problem = plugin_problem(problem_);
  EXPECT_EQ(problem.struct_size, sizeof problem);
  EXPECT_EQ(problem.family, ATTNBENCH_SOFTMAX);
  EXPECT_EQ(problem.mode, ATTNBENCH_DECODE);
  EXPECT_EQ(problem.cache_dtype, ATTNBENCH_E4M3);
  EXPECT_EQ(problem.cache_layout, ATTNBENCH_HND);
  EXPECT_EQ(problem.sliding_window_size, 100);
  EXPECT_EQ(problem.max_kv_len, 9);
}

TEST_F(PluginBatchTest, has_a_problem_that_says_whether_drafts_are_chains) {
  EXPECT_EQ(plugin_problem(problem_).drafts_are_chains, 0);
  problem_.drafts_are_chains = true;
  EXPECT_EQ(plugin_problem(problem_).drafts_are_chains, 1);
}

TEST_F(PluginBatchTest, has_the_spans_of_query_tokens_and_the_layer_s_rule_for_them) {
  EXPECT_EQ(plugin_problem(problem_).spans, 0);
  problem_.spans = true;
  EXPECT_EQ(plugin_problem(problem_).spans, 1);
  EXPECT_EQ(plugin_problem(problem_).spans_within_window, 0);
  problem_.layer.span_rule = SpanRule::kWithinWindow;
  EXPECT_EQ(plugin_problem(problem_).spans_within_window, 1);

  EXPECT_EQ(PluginBatch(batch_, *device_, arrays_).view().tensors[ATTNBENCH_SPANS].data, nullptr);
  batch_.spans = {0, 0, 3, 12};
  const HostIndices indices(batch_, kPageSize);
  batch_.device_batch = &indices.batch();
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_tensor& spans = plugin.view().tensors[ATTNBENCH_SPANS];
  EXPECT_EQ(values<std::int32_t>(spans), batch_.spans);
  EXPECT_EQ(spans.rank, 2);
  EXPECT_EQ(spans.shape[1], 2);
}

TEST_F(PluginBatchTest, says_how_many_tokens_a_compressed_row_has) {
  EXPECT_EQ(plugin_problem(problem_).compress_ratio, 0);
  problem_.layer.compress_ratio = 4;
  EXPECT_EQ(plugin_problem(problem_).compress_ratio, 4);
}

TEST_F(PluginBatchTest, has_the_lists_of_chosen_keys_and_what_they_hold) {
  EXPECT_EQ(plugin_problem(problem_).topk, 0);
  problem_.layer.selection = {
      .topk = 4, .unit = 2, .groups = SelectionGroups::kKvHeads, .padding = SelectionPadding::kEnd};
  const attnbench_problem told = plugin_problem(problem_);
  EXPECT_EQ(told.topk, 4);
  EXPECT_EQ(told.topk_unit, 2);
  EXPECT_EQ(told.topk_groups, problem_.layer.heads_kv);
  EXPECT_EQ(told.topk_length_counts, 0);
  problem_.layer.selection.padding = SelectionPadding::kRepeat;
  EXPECT_EQ(plugin_problem(problem_).topk_length_counts, 1);
  EXPECT_EQ(told.topk_repeats, 0);
  problem_.layer.selection.pattern = SelectionPattern::kDuplicates;
  EXPECT_EQ(plugin_problem(problem_).topk_repeats, 1);
  problem_.layer.selection.pattern = SelectionPattern::kCaptured;
  EXPECT_EQ(plugin_problem(problem_).topk_repeats, 0);
  problem_.layer.selection.has_duplicates = true;
  EXPECT_EQ(plugin_problem(problem_).topk_repeats, 1);
  problem_.layer.selection.pattern = SelectionPattern::kUniform;
  problem_.layer.selection.has_duplicates = false;

  const PluginBatch without(batch_, *device_, arrays_);
  EXPECT_EQ(without.view().tensors[ATTNBENCH_TOPK_INDICES].data, nullptr);
  batch_.chosen = choose_keys(problem_.layer, 9, 2, 3);
  const HostIndices indices(batch_, kPageSize);
  batch_.device_batch = &indices.batch();
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_tensor& lists = plugin.view().tensors[ATTNBENCH_TOPK_INDICES];
  EXPECT_EQ(values<std::int32_t>(lists), batch_.chosen->indices);
  EXPECT_EQ(lists.rank, 3);
  EXPECT_EQ(lists.shape[1], problem_.layer.heads_kv);
  EXPECT_EQ(lists.shape[2], 4);
  EXPECT_EQ(values<std::int32_t>(plugin.view().tensors[ATTNBENCH_TOPK_LENGTH]),
            batch_.chosen->lengths);
}

TEST_F(PluginBatchTest, has_states_in_place_of_caches_for_a_recurrent_layer) {
  problem_.layer = {.family = Family::kGatedDeltaNet,
                    .heads_q = 1,
                    .heads_kv = 2,
                    .head_dim_qk = 4,
                    .head_dim_v = 8,
                    .scale = 0.5};
  std::vector<float> states(3 * 2 * 4 * 8), gates(2 * 2);
  const StatePool pool{states.data(), 3, 2, 4, 8};
  batch_.state_pool = &pool;
  batch_.state_indices = {2, 1};
  batch_.has_initial_state = {1, 0};
  batch_.tensors.g = batch_.tensors.beta =
      ConstTensorView::dense(std::as_bytes(std::span(gates)).data(), DType::kF32, 2, 2, 1);
  const HostIndices indices(batch_, kPageSize);
  batch_.device_batch = &indices.batch();
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_tensor* const tensors = plugin.view().tensors;
  EXPECT_EQ(plugin.view().problem->family, ATTNBENCH_RECURRENT);
  const attnbench_tensor& pooled = tensors[ATTNBENCH_STATES];
  EXPECT_EQ(pooled.data, states.data());
  EXPECT_TRUE(
      std::equal(pooled.shape, pooled.shape + 4, std::vector<std::int64_t>{3, 2, 4, 8}.begin()));
  EXPECT_EQ(pooled.stride[2], 8);
  EXPECT_EQ(pooled.stride[3], 1);
  EXPECT_EQ(values<std::int32_t>(tensors[ATTNBENCH_STATE_INDICES]),
            (std::vector<std::int32_t>{2, 1}));
  EXPECT_EQ(values<std::uint8_t>(tensors[ATTNBENCH_HAS_INITIAL_STATE]),
            (std::vector<std::uint8_t>{1, 0}));
  EXPECT_EQ(tensors[ATTNBENCH_G].rank, 2);
  EXPECT_EQ(values<std::int32_t>(tensors[ATTNBENCH_QUERY_START_LOC]),
            (std::vector<std::int32_t>{0, 1, 2}));
  for (const int role : {ATTNBENCH_LSE, ATTNBENCH_K_CACHE, ATTNBENCH_V_CACHE,
                         ATTNBENCH_REQ_TO_TOKEN, ATTNBENCH_BLOCK_TABLE, ATTNBENCH_SLOT_MAPPING}) {
    EXPECT_EQ(tensors[role].data, nullptr) << role;
  }

  EXPECT_EQ(tensors[ATTNBENCH_INTERMEDIATE_STATES].data, nullptr) << "of drafts alone";

  std::vector<float> behind(2 * 2 * 4 * 8);
  const StatePool intermediate{behind.data(), 2, 2, 4, 8};
  batch_.intermediate_states = &intermediate;
  const PluginBatch draft(batch_, *device_, arrays_);
  const attnbench_tensor& left = draft.view().tensors[ATTNBENCH_INTERMEDIATE_STATES];
  EXPECT_EQ(left.data, behind.data());
  EXPECT_TRUE(
      std::equal(left.shape, left.shape + 4, std::vector<std::int64_t>{2, 2, 4, 8}.begin()));
  batch_.intermediate_states = nullptr;

  StatePool value_dims_first = pool;
  value_dims_first.v_first = true;
  batch_.state_pool = &value_dims_first;
  const PluginBatch other(batch_, *device_, arrays_);
  const attnbench_tensor& turned = other.view().tensors[ATTNBENCH_STATES];
  EXPECT_TRUE(std::equal(turned.shape, turned.shape + 4, pooled.shape));
  EXPECT_EQ(turned.stride[1], 4 * 8);
  EXPECT_EQ(turned.stride[2], 1);
  EXPECT_EQ(turned.stride[3], 4);
}

TEST_F(PluginBatchTest, has_the_parents_of_drafts_on_a_recurrent_layer) {
  problem_.layer.family = Family::kGatedDeltaNet;
  const std::vector<std::vector<int>> trees = {{-1, 0, 0}, {-1, 0, 1}};
  batch_.forward_mode = ForwardMode::kTargetVerify;
  batch_.spec_info = make_spec_info(trees, batch_.seq_lens);
  batch_.positions.resize(6);
  std::vector<float> states(6);
  const StatePool pool{states.data(), 6, 1, 1, 1};
  batch_.state_pool = batch_.intermediate_states = &pool;
  batch_.state_indices = {2, 1};
  batch_.has_initial_state = {1, 0};
  const HostIndices indices(batch_, kPageSize);
  batch_.device_batch = &indices.batch();
  const PluginBatch plugin(batch_, *device_, arrays_);
  const attnbench_tensor& parents = plugin.view().tensors[ATTNBENCH_RETRIEVE_PARENT_TOKEN];
  ASSERT_EQ(parents.rank, 2);
  EXPECT_EQ(parents.shape[0], 2);
  EXPECT_EQ(parents.shape[1], 3);
  ASSERT_EQ(parents.dtype, ATTNBENCH_I32);
  const auto* const at = static_cast<const std::int32_t*>(parents.data);
  EXPECT_EQ(std::vector<std::int32_t>(at, at + 6), (std::vector<std::int32_t>{-1, 0, 0, -1, 0, 1}));
  EXPECT_EQ(plugin.view().tensors[ATTNBENCH_CUSTOM_MASK].data, nullptr);
}

}  // namespace
}  // namespace attnbench
