// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "reference/memory_need.h"
#include "reference/oracle.h"
#include "reference/testing/expect_rows.h"
#include "reference/testing/naive_attention.h"

namespace attnbench::reference {
namespace {

Case case_of(const std::string& name, ForwardMode mode, int heads_q, int heads_kv,
             std::vector<std::pair<std::int64_t, std::int64_t>> lengths) {
  Case c;
  c.id = name;
  c.seed = 11;
  c.mode = mode;
  c.layer.heads_q = heads_q;
  c.layer.heads_kv = heads_kv;
  c.layer.head_dim_qk = 32;
  c.layer.head_dim_v = 32;
  c.layer.scale = 1 / std::sqrt(32.0);
  c.kv_cache.page_size = 16;
  for (const auto& [q_len, kv_len] : lengths) {
    Request request;
    request.q_len = q_len;
    request.kv_len = kv_len;
    c.requests.push_back(request);
  }
  return c;
}

/// One case per family; 300 and 520 keys need more than one block.
std::vector<Case> families() {
  std::vector<Case> cases;
  cases.push_back(case_of("decode_gqa", ForwardMode::kDecode, 4, 2, {{1, 1}, {1, 17}, {1, 520}}));
  cases.push_back(case_of("chunk_mha", ForwardMode::kMixed, 3, 3, {{9, 300}, {1, 16}, {5, 5}}));
  Case mqa = case_of("prefix_mqa", ForwardMode::kExtend, 4, 1, {{3, 40}, {2, 41}});
  mqa.prefixes = {{"system", 33}};
  for (Request& request : mqa.requests) request.shared_prefix = 0, request.shared_len = 33;
  mqa.layer.head_dim_v = 8;  // dk != dv
  cases.push_back(mqa);
  Case tree = case_of("tree", ForwardMode::kTargetVerify, 4, 2, {{6, 26}, {6, 7}});
  for (Request& request : tree.requests) request.tree_parents = {-1, 0, 0, 0, 1, 1};
  cases.push_back(tree);
  tree.id = "tree_window_alibi";
  tree.layer.sliding_window_size = 1;
  tree.layer.has_alibi = true;
  cases.push_back(tree);
  tree.id = "tree_window_by_depth";
  tree.layer.window_in_trees = WindowInTrees::kDepth;
  cases.push_back(tree);
  Case window = case_of("window_cap_sink", ForwardMode::kExtend, 4, 2, {{30, 300}, {9, 9}});
  window.layer.sliding_window_size = 7;
  window.layer.logit_cap = 0.8;
  window.layer.has_sinks = true;
  cases.push_back(window);
  Case spans = case_of("spans", ForwardMode::kExtend, 4, 2, {{30, 300}, {9, 9}, {8, 8}, {1, 65}});
  for (Request& request : spans.requests) request.spans = {{2, 6}, {6, 8}};
  spans.requests[0].spans = {{250, 280}, {290, 310}};
  cases.push_back(spans);
  for (const SpanRule rule : {SpanRule::kOverride, SpanRule::kWithinWindow}) {
    spans.id = "spans_window_" + std::string(to_string(rule));
    spans.layer.span_rule = rule;
    spans.layer.sliding_window_size = 2;
    cases.push_back(spans);
  }
  Case chosen =
      case_of("chosen_keys", ForwardMode::kExtend, 4, 2, {{30, 300}, {9, 9}, {5, 2}, {1, 520}});
  chosen.layer.selection = {.topk = 20, .padding = SelectionPadding::kRepeat};
  chosen.layer.has_sinks = true;
  cases.push_back(chosen);
  chosen.id = "chosen_units_of_kv_heads";
  chosen.layer.selection = {.topk = 5,
                            .unit = 4,
                            .groups = SelectionGroups::kKvHeads,
                            .padding = SelectionPadding::kFront};
  cases.push_back(chosen);
  chosen.id = "chosen_keys_of_heads";
  chosen.layer.selection = {.topk = 9, .groups = SelectionGroups::kHeads};
  cases.push_back(chosen);
  Case chunks = case_of("chunks", ForwardMode::kExtend, 4, 2, {{30, 300}, {9, 9}, {5, 2}, {1, 65}});
  chunks.layer.attention_chunk = 16;
  cases.push_back(chunks);
  chunks.id = "chunks_window";
  chunks.layer.sliding_window_size = 7;
  cases.push_back(chunks);
  tree.id = "tree_chunks";
  tree.layer = {.heads_q = 4, .heads_kv = 2, .head_dim_qk = 32, .head_dim_v = 32, .scale = 0.2};
  tree.layer.attention_chunk = 3;
  cases.push_back(tree);
  tree.id = "tree_chunks_window_by_depth";
  tree.layer.window_in_trees = WindowInTrees::kDepth;
  tree.layer.sliding_window_size = 1;
  cases.push_back(tree);
  tree.layer.window_in_trees = WindowInTrees::kIndex;
  tree.layer.sliding_window_size = -1;
  chunks.id = "temperature_cap_chunks";
  chunks.layer.temperature_len = 3;
  chunks.layer.logit_cap = 0.8;
  cases.push_back(chunks);
  tree.id = "tree_temperature_alibi";
  tree.layer.attention_chunk = 0;
  tree.layer.temperature_len = 22;
  tree.layer.has_alibi = true;
  cases.push_back(tree);
  Case blocks = case_of("blocks", ForwardMode::kDllmExtend, 4, 2, {{32, 300}, {9, 9}, {3, 40}});
  blocks.layer.causal_block = 8;
  cases.push_back(blocks);
  blocks.id = "blocks_window";
  blocks.layer.sliding_window_size = 5;
  cases.push_back(blocks);
  Case items = case_of("items", ForwardMode::kExtend, 4, 2, {{30, 300}, {9, 9}, {5, 20}});
  items.requests[0].items = {3, 2, 4};
  items.requests[1].items = {2, 1};
  cases.push_back(items);
  items.id = "items_temperature_alibi";
  items.layer.temperature_len = 5;
  items.layer.has_alibi = true;
  cases.push_back(items);
  Case dual =
      case_of("dual_chunks", ForwardMode::kExtend, 4, 2, {{30, 300}, {9, 9}, {5, 2}, {1, 65}});
  dual.layer.dual_chunk = {16, 3};
  cases.push_back(dual);
  dual.id = "dual_chunks_temperature_cap";
  dual.layer.temperature_len = 5;
  dual.layer.logit_cap = 0.8;
  cases.push_back(dual);
  Case alibi = case_of("alibi", ForwardMode::kDraftExtend, 8, 8, {{3, 40}, {1, 2}});
  alibi.layer.has_alibi = true;
  cases.push_back(alibi);
  Case six = case_of("alibi_six_heads", ForwardMode::kExtend, 6, 3, {{3, 40}});
  six.layer.has_alibi = true;
  cases.push_back(six);
  six.id = "alibi_six_heads_of_two_ranks";
  six.layer.ranks = 2;
  cases.push_back(six);
  six.id = "alibi_encoder";
  six.layer.causal = false;
  cases.push_back(six);
  Case cross = case_of("cross", ForwardMode::kExtend, 2, 2, {{7, 3}, {1, 33}});
  cross.layer.is_cross_attention = true;
  cross.layer.causal = false;
  cases.push_back(cross);

  Case cross_tree = case_of("cross_tree", ForwardMode::kTargetVerify, 2, 2, {{4, 3}, {4, 33}});
  cross_tree.layer.is_cross_attention = true;
  cross_tree.layer.causal = false;
  for (Request& request : cross_tree.requests) request.tree_parents = {-1, 0, 0, 1};
  cases.push_back(cross_tree);
  Case encoder = case_of("encoder", ForwardMode::kExtend, 2, 2, {{5, 5}});
  encoder.layer.causal = false;
  cases.push_back(encoder);
  encoder.id = "encoder_window";
  encoder.requests[0].q_len = encoder.requests[0].kv_len = 12;
  encoder.layer.sliding_window_size = 3;
  cases.push_back(encoder);
  Case mla = case_of("mla", ForwardMode::kDecode, 4, 1, {{1, 65}, {3, 300}});
  mla.layer.family = Family::kLatent;
  mla.layer.head_dim_qk = 40;
  cases.push_back(mla);
  mla.id = "mla_fp8";
  mla.kv_cache.dtype = DType::kE4M3;
  mla.kv_cache.k_scale = 0.37f;
  mla.kv_cache.v_scale = 5;  // a latent cache has one scale
  cases.push_back(mla);
  Case fp8 = case_of("fp8", ForwardMode::kDecode, 2, 1, {{1, 31}, {1, 300}});
  fp8.kv_cache.dtype = DType::kE5M2;
  fp8.kv_cache.k_scale = 0.37f;
  fp8.kv_cache.v_scale = 0.11f;
  cases.push_back(fp8);
  fp8.id = "fp8_queries";
  fp8.fp8.q = DType::kE4M3;
  fp8.q_scale = 0.37f;
  cases.push_back(fp8);
  fp8.id = "scales_by_request";
  fp8.fp8.q_scales = QScales::kRequest;
  fp8.kv_cache.scales = KvScales::kRequest;
  cases.push_back(fp8);
  for (const QScales scales : {QScales::kHead, QScales::kToken}) {
    fp8.id = "scales_by_" + std::string(to_string(scales));
    fp8.fp8.q_scales = scales;
    cases.push_back(fp8);
  }
  Case apart = case_of("", ForwardMode::kExtend, 4, 2, {{3, 40}, {5, 9}});
  apart.kv_cache.dtype = DType::kE4M3;
  apart.fp8.q = DType::kE4M3;
  apart.fp8.q_scales = QScales::kToken;
  for (const KvScales scales : {KvScales::kHead, KvScales::kToken}) {
    apart.id = "keys_scaled_by_" + std::string(to_string(scales));
    apart.kv_cache.scales = scales;
    cases.push_back(apart);
  }
  mla.id = "mla_fp8_queries";
  mla.fp8.q = DType::kE5M2;
  mla.q_scale = 0.21f;
  cases.push_back(mla);
  mla.id = "mla_rows_with_scales_inside";
  mla.kv_cache.scales = KvScales::kBlock;
  mla.requests.back().kv_len = 33;
  mla.layer.head_dim_v = 256;
  mla.layer.head_dim_qk = 264;
  mla.kv_cache.k_scale = mla.kv_cache.v_scale = 1;
  cases.push_back(mla);
  Case empty = case_of("more_queries_than_keys", ForwardMode::kExtend, 2, 1, {{5, 2}});
  empty.layer.has_sinks = true;
  cases.push_back(empty);
  empty.id = "empty_rows";
  empty.layer.has_sinks = false;
  cases.push_back(empty);
  Case rows = case_of("compressed_rows", ForwardMode::kExtend, 4, 1, {{5, 5}, {3, 9}, {6, 41}});
  rows.layer.family = Family::kLatent;
  rows.layer.head_dim_v = rows.layer.head_dim_qk;
  rows.layer.sliding_window_size = 5;
  rows.layer.compress_ratio = 4;
  rows.layer.has_sinks = true;
  cases.push_back(rows);
  rows.id = "chosen_compressed_rows";
  rows.layer.selection = {.topk = 3, .unit = 4, .compressed = true};
  cases.push_back(rows);
  rows.id = "compressed_rows_listed_twice";
  rows.layer.selection.pattern = SelectionPattern::kDuplicates;
  cases.push_back(rows);
  return cases;
}

constexpr std::int64_t kEveryRow = 1'000'000;

class EvaluateRows : public ::testing::TestWithParam<Case> {};

TEST_P(EvaluateRows, agrees_with_the_naive_implementation) {
  const Case& c = GetParam();
  const std::vector<RowId> ids = sample_rows(c, kEveryRow);
  for (const Fill fill :
       {Fill::kNeedle, Fill::kTag, Fill::kSparseInt, Fill::kExtreme, Fill::kNormal}) {
    SCOPED_TRACE(to_string(fill));
    const Contents contents(c, fill);
    for (const ReferenceRow& row : evaluate_rows(c, contents, ids)) {
      const ReferenceRow wanted = naive_row(c, contents, row.id);
      expect_same_result(row, wanted);
      expect_near(row.a, wanted.a, 1e-12);
      expect_near(row.b, wanted.b, 1e-12);
      EXPECT_NEAR(row.s, wanted.s, 1e-12 * std::max(1.0, wanted.s));
      EXPECT_NEAR(row.p_max, wanted.p_max, 1e-12);
      EXPECT_NEAR(row.denominator, wanted.denominator, 1e-12 * wanted.denominator);
      EXPECT_GE(row.v_max, wanted.v_max);
      EXPECT_LE(row.v_max, 16 * std::max(1.0, wanted.v_max)) << "of the keys around, no more";
      EXPECT_EQ(row.visible, wanted.visible);
      if (HasFailure()) {
        FAIL() << "request " << row.id.request << " token " << row.id.token << " head "
               << row.id.head;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(families, EvaluateRows, ::testing::ValuesIn(families()),
                         [](const auto& family) { return family.param.id; });

TEST(EvaluateRows, results_stand_in_the_order_that_was_asked) {
  const Case c = families()[1];
  const Contents contents(c, Fill::kNormal);
  std::vector<RowId> ids = sample_rows(c, kEveryRow);
  std::ranges::reverse(ids);
  const auto results = evaluate_rows(c, contents, ids);
  ASSERT_EQ(results.size(), ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(results[i].id, ids[i]);
}

TEST(EvaluateRows, the_number_of_threads_changes_no_bit) {
  const Case c = case_of("threads", ForwardMode::kMixed, 4, 2, {{64, 700}, {1, 300}, {9, 30}});
  const Contents contents(c, Fill::kNormal);
  const std::vector<RowId> ids = sample_rows(c, kEveryRow);
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto alone = evaluate_rows(c, contents, ids);
  omp_set_num_threads(5);
  const auto together = evaluate_rows(c, contents, ids);
  omp_set_num_threads(before);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(alone[i].out, together[i].out);
    EXPECT_EQ(alone[i].b, together[i].b);
    EXPECT_EQ(alone[i].lse, together[i].lse);
  }
}

// 32 query heads over 8: head 13 reads KV head 13 / 4 = 3. Of a single key O is its value.
TEST(EvaluateRows, head_13_of_32_over_8_reads_kv_head_3) {
  const Case c = case_of("gqa", ForwardMode::kDecode, 32, 8, {{1, 1}});
  const Contents contents(c, Fill::kNormal);
  const RowId id{.request = 0, .token = 0, .head = 13};
  const ReferenceRow row = evaluate_rows(c, contents, {&id, 1}).front();
  std::vector<float> value(32);
  contents.v_row(0, 0, 3, value);
  expect_near(row.out, std::vector<double>(value.begin(), value.end()), 1e-12);
}

TEST(EvaluateRows, nothing_asked_nothing_returned) {
  Case idle = case_of("idle", ForwardMode::kIdle, 2, 1, {});
  EXPECT_TRUE(evaluate_rows(idle, Contents(idle, Fill::kNormal), {}).empty());
}

TEST(EvaluateRows, a_row_that_the_case_does_not_have_is_a_defect) {
  const Case c = families()[0];
  const Contents contents(c, Fill::kNormal);
  for (const RowId& id : {RowId{3, 0, 0}, RowId{0, 1, 0}, RowId{0, 0, 4}, RowId{-1, 0, 0}}) {
    EXPECT_THROW((void)evaluate_rows(c, contents, {&id, 1}), InternalError);
  }
}

TEST(EvaluateRows, of_several_contents_are_those_of_each) {
  const Case c = families()[0];
  const std::vector<Contents> contents{Contents(c, Fill::kNormal), Contents(c, Fill::kNeedle),
                                       Contents(c, 3)};
  const std::vector<RowId> rows = sample_rows(c, 16);
  const auto together = evaluate_rows(c, contents, rows);
  ASSERT_EQ(together.size(), contents.size());
  for (std::size_t i = 0; i < contents.size(); ++i) {
    const std::vector<ReferenceRow> alone = evaluate_rows(c, contents[i], rows);
    ASSERT_EQ(together[i].size(), alone.size());
    for (std::size_t row = 0; row < alone.size(); ++row) {
      EXPECT_EQ(together[i][row].out, alone[row].out) << i;
      EXPECT_EQ(together[i][row].id, rows[row]);
    }
  }
}

TEST(ReferenceMemory, is_64_MiB_a_thread_until_contexts_are_long) {
  Case c;
  c.layer.heads_kv = 8;
  c.requests.resize(4);
  c.requests[0].kv_len = 1000;
  EXPECT_EQ(memory_need(c, 2), std::int64_t{128} << 20);
  EXPECT_EQ(memory_need(c, 1000), std::int64_t{32 * 64} << 20) << "a KV head each";
  EXPECT_EQ(memory_need(c, 1000, 5), std::int64_t{5 * 32 * 64} << 20) << "of each fill";
  c.requests[0].kv_len = std::int64_t{1} << 30;
  EXPECT_EQ(memory_need(c, 1), std::int64_t{128} << 30);
}

// Double sparsity with as many heavy tokens as a context has.
TEST(ListsOfHeads, of_all_keys_are_dense_attention) {
  Case sparse = case_of("all_tokens", ForwardMode::kDecode, 4, 2, {{1, 1}, {1, 17}, {1, 300}});
  sparse.layer.selection = {.topk = 300, .groups = SelectionGroups::kHeads};
  Case dense = sparse;
  dense.layer.selection = {};
  const Contents contents(dense, Fill::kNormal);
  const std::vector<RowId> ids = sample_rows(dense, kEveryRow);
  const std::vector<ReferenceRow> all = evaluate_rows(dense, contents, ids);
  const std::vector<ReferenceRow> chosen = evaluate_rows(sparse, contents, ids);
  ASSERT_EQ(chosen.size(), 3u * 4);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    expect_near(chosen[i].out, all[i].out, 1e-12);
    EXPECT_NEAR(chosen[i].lse, all[i].lse, 1e-12);
  }
}

}  // namespace
}  // namespace attnbench::reference
