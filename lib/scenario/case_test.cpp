// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/scenario/prefix_tree.h"
#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/cases.h"

namespace attnbench {
namespace {

Case composed(const std::string& more = "") {
  return parse_scenario(
             "defaults: {model: deepseek-v3, tp: 8, mla: composed, kv_cache: {page_size: "
             "64, dtype: e4m3, k_scale: 0.5}}\n"
             "prefixes: {system: 70}\n"
             "mixes:\n"
             "  m:\n" +
                 more +
                 "    batch:\n"
                 "      - {mode: decode, kv_len: 100}\n"
                 "      - {mode: extend, prefix: system, q_len: 20}\n"
                 "      - {mode: decode, prefix: system, kv_len: 90}\n",
             "test.yaml")
      .cases.at(0);
}

TEST(ComposedStep, divides_its_requests_by_their_queries_as_vllm_does) {
  const Case c = composed();
  EXPECT_EQ(c.mode, ForwardMode::kMixed);
  ASSERT_EQ(c.parts.size(), 2u);
  const Case &prompts = c.parts[0], &decodes = c.parts[1];
  EXPECT_EQ(prompts.mode, ForwardMode::kExtend);
  EXPECT_EQ(decodes.mode, ForwardMode::kDecode);
  ASSERT_EQ(prompts.requests.size(), 1u);
  ASSERT_EQ(decodes.requests.size(), 2u);
  // A radix cache has whole pages alone: six tokens of the prefix are computed again.
  EXPECT_EQ(prompts.requests[0].q_len, 26);
  EXPECT_EQ(prompts.requests[0].kv_len, 90);
  EXPECT_EQ(decodes.requests[0].kv_len, 100);
  // Contents are those of the requests' places in the whole step.
  EXPECT_EQ(prompts.requests[0].stream, 1);
  EXPECT_EQ(decodes.requests[1].stream, 2);
  EXPECT_EQ(c.q_tokens(), prompts.q_tokens() + decodes.q_tokens());
}

TEST(ComposedStep, has_each_part_in_its_form) {
  const Case c = composed("    attention: {queries: apart, softcap: 30, q_dtype: e4m3}\n");
  const Case &prompts = c.parts.at(0), &decodes = c.parts.at(1);
  EXPECT_EQ(prompts.layer.head_dim_qk, 192);
  EXPECT_EQ(prompts.layer.head_dim_v, 128);
  EXPECT_EQ(prompts.layer.heads_kv, 16);
  EXPECT_EQ(decodes.layer.head_dim_qk, 576);
  EXPECT_EQ(decodes.layer.heads_kv, 1);
  EXPECT_DOUBLE_EQ(prompts.layer.scale, decodes.layer.scale);
  EXPECT_EQ(prompts.layer.logit_cap, 30);
  EXPECT_EQ(decodes.layer.logit_cap, 30);
  // Keys and values of prompts are as their projections leave them, whatever the cache holds.
  EXPECT_TRUE(prompts.kv_cache.is_ragged());
  EXPECT_EQ(prompts.kv_cache.dtype, DType::kBF16);
  EXPECT_EQ(prompts.kv_cache.k_scale, 1);
  EXPECT_EQ(prompts.q_dtype(), DType::kBF16);
  EXPECT_FALSE(prompts.layer.queries_apart);
  EXPECT_EQ(prompts.requests[0].shared_len, 0);
  EXPECT_EQ(decodes.kv_cache.dtype, DType::kE4M3);
  EXPECT_EQ(decodes.kv_cache.page_size, 64);
  EXPECT_EQ(decodes.q_dtype(), DType::kE4M3);
  EXPECT_TRUE(decodes.layer.queries_apart);
  EXPECT_EQ(decodes.requests[1].shared_len, 70);
}

TEST(ComposedStep, is_refused_where_one_step_is_wanted) {
  const Case c = composed();
  EXPECT_NO_THROW(refuse_composed(c.parts.front(), "dump"));
  EXPECT_THROW(refuse_composed(c, "dump"), ConfigError);
}

TEST(StepsOf, are_the_parts_of_a_composed_case_or_the_case_itself) {
  Case c = composed();
  EXPECT_EQ(steps_of(c).data(), c.parts.data());
  c = with_step(c, StepPart::kBoth);
  EXPECT_EQ(c.parts[1].step, StepPart::kBoth);
  EXPECT_EQ(steps_of(c.parts[0]).data(), &c.parts[0]);
}

TEST(WithStep, keeps_the_entry_of_a_tail_from_selectors) {
  Case c;
  c.layer.selection = {.topk = 129, .unit = 16, .tail = SelectionTail::kOpen};
  const Case select = with_step(c, StepPart::kSelect);
  EXPECT_EQ(select.layer.selection.topk, 128);
  EXPECT_EQ(with_step(select, StepPart::kSelect).layer.selection.topk, 128);
  EXPECT_EQ(with_step(c, StepPart::kAttention).layer.selection.topk, 129);
  c.layer.selection.tail = SelectionTail::kCounted;
  EXPECT_EQ(with_step(c, StepPart::kSelect).layer.selection.topk, 129);
}

TEST(WithStep, takes_what_a_pipeline_s_lists_are_from_its_selector) {
  Case c;
  c.layer.selection = {.topk = 16,
                       .pattern = SelectionPattern::kCaptured,
                       .padding = SelectionPadding::kRepeat,
                       .has_duplicates = true};
  c.requests = {{.captured = std::make_shared<ChosenKeys>()}};
  c.graph_bucket = 4;
  const Case pipeline = with_step(c, StepPart::kPipeline);
  EXPECT_EQ(pipeline.layer.selection, Selection{.topk = 16});
  EXPECT_EQ(pipeline.requests[0].captured, nullptr);
  EXPECT_EQ(pipeline.graph_bucket, 4);
  EXPECT_EQ(with_step(c, StepPart::kSelect).graph_bucket, 0) << "lists are those of one step";
}

TEST(WhyNotBuilt, has_no_pipeline_of_units_whose_open_one_nobody_lists) {
  Case c;
  c.kv_cache.page_size = 16;
  c.requests = {{.kv_len = 100}};
  EXPECT_EQ(why_not_built(c, StepPart::kPipeline), "the layer has no selection");
  c.layer.selection = {.topk = 16};
  EXPECT_EQ(why_not_built(c, StepPart::kPipeline), "");
  c.layer.selection.groups = SelectionGroups::kKvHeads;
  EXPECT_NE(why_not_built(c, StepPart::kPipeline), "") << "no indexer scores for KV heads";
  c.layer.selection = {.topk = 16, .unit = 4};
  EXPECT_THAT(why_not_built(c, StepPart::kPipeline), testing::HasSubstr("tail: open, tail: own"));
  for (const SelectionTail tail : {SelectionTail::kOpen, SelectionTail::kOwn}) {
    c.layer.selection.tail = tail;
    EXPECT_EQ(why_not_built(c, StepPart::kPipeline), "") << "a selector lists it";
  }
  c.layer.selection = {
      .topk = 16, .unit = 128, .groups = SelectionGroups::kKvHeads, .score = SelectionScore::kMax};
  EXPECT_EQ(why_not_built(c, StepPart::kPipeline), "") << "the query's own unit has a score";
}

TEST(WhyNotBuilt, scores_labels_in_decodes_only) {
  Case c;
  c.requests = {{.kv_len = 100}};
  c.layer.selection = {.topk = 4, .score = SelectionScore::kChannels};
  EXPECT_EQ(why_not_built(c, StepPart::kIndexer), "");
  EXPECT_EQ(why_not_built(c, StepPart::kPipeline), "");
  c.mode = ForwardMode::kExtend;
  EXPECT_EQ(why_not_built(c, StepPart::kPipeline),
            "labels of keys are scored in decodes only: prompts attend to all keys, in a mix of "
            "their own with selection: none");
  EXPECT_EQ(why_not_built(c, StepPart::kSelect), "") << "whoever scored them";
}

/// Two branches behind 37 tokens, one of which goes on, and a prefix of its own.
std::vector<SharedPrefix> two_branches() {
  return {{"system", 37}, {"tools", 67, 0}, {"agent", 72, 1}, {"plain", 48, 0}, {"other", 20}};
}

void expect_range(const KeyRun& range, std::int64_t begin, std::int64_t end) {
  EXPECT_EQ(range.begin, begin);
  EXPECT_EQ(range.end, end);
}

TEST(PrefixTree, knows_what_a_prefix_adds_to_its_parent) {
  const auto prefixes = two_branches();
  expect_range(own_tokens(prefixes, 0), 0, 37);
  expect_range(own_tokens(prefixes, 2), 67, 72);
  expect_range(own_tokens(prefixes, 3), 37, 48);
}

TEST(PrefixTree, shares_whole_pages_of_a_branch_from_its_parents_last_whole_page_on) {
  const auto prefixes = two_branches();
  expect_range(own_whole_pages(prefixes, 0, 16), 0, 32);
  expect_range(own_whole_pages(prefixes, 1, 16), 32, 64);
  expect_range(own_whole_pages(prefixes, 2, 16), 64, 64);
  expect_range(own_whole_pages(prefixes, 3, 16), 32, 48);
  expect_range(own_whole_pages(prefixes, 2, 1), 67, 72);
}

TEST(PrefixTree, finds_who_added_a_token) {
  const auto prefixes = two_branches();
  for (const auto& [position, owner] : {std::pair{0, 0}, {36, 0}, {37, 1}, {66, 1}, {67, 2}}) {
    EXPECT_EQ(prefix_of_token(prefixes, 2, position), owner) << position;
  }
  EXPECT_EQ(prefix_of_token(prefixes, 3, 36), 0);
  EXPECT_EQ(prefix_of_token(prefixes, 3, 37), 3);
}

TEST(PrefixTree, has_in_common_all_of_the_last_common_ancestor) {
  const auto prefixes = two_branches();
  EXPECT_EQ(common_length(prefixes, 2, 3), 37);
  EXPECT_EQ(common_length(prefixes, 3, 2), 37);
  EXPECT_EQ(common_length(prefixes, 2, 1), 67);
  EXPECT_EQ(common_length(prefixes, 1, 2), 67);
  EXPECT_EQ(common_length(prefixes, 2, 2), 72);
  EXPECT_EQ(common_length(prefixes, 2, 4), 0);
  EXPECT_EQ(common_length(prefixes, -1, 0), 0);
  EXPECT_EQ(common_length(prefixes, 0, -1), 0);
}

TEST(PrefixTree, knows_descendants) {
  const auto prefixes = two_branches();
  EXPECT_TRUE(extends(prefixes, 2, 0));
  EXPECT_TRUE(extends(prefixes, 2, 2));
  EXPECT_FALSE(extends(prefixes, 0, 2));
  EXPECT_FALSE(extends(prefixes, 3, 1));
  EXPECT_FALSE(extends(prefixes, -1, 0));
}

TEST(CacheOfACase, has_the_dtype_of_activations_unless_told) {
  EXPECT_EQ(only_case("dtype: f16, batch: q1s8").kv_cache.dtype, DType::kF16);
  const Case c = only_case("kv_cache: {dtype: e4m3, k_scale: 0.5, v_scale: 0.25}, batch: q1s8");
  EXPECT_EQ(c.kv_cache.dtype, DType::kE4M3);
  EXPECT_EQ(c.kv_cache.k_scale, 0.5f);
  EXPECT_EQ(c.kv_cache.v_scale, 0.25f);
}

TEST(CacheOfACase, has_the_rows_that_vllm_calls_fp8_ds_mla_for_the_model) {
  const auto cache_of = [](const std::string& model) {
    return only_case("model: " + model +
                     ", kv_cache: {dtype: fp8_ds_mla, page_size: 64}, batch: q1s8")
        .kv_cache;
  };
  for (const char* model : {"deepseek-v4-flash, tp: 64, layer: sliding",
                            "{heads_q: 8, kv_lora_rank: 192, qk_nope_head_dim: 192, "
                            "qk_rope_head_dim: 0}"}) {
    EXPECT_EQ(cache_of(model).dtype, DType::kE4M3);
    EXPECT_EQ(cache_of(model).scales, KvScales::kGroup) << model;
  }
  for (const char* model : {"deepseek-v3.2, tp: 64", "glm-5.3-flash, tp: 64, layer: sparse"}) {
    EXPECT_EQ(cache_of(model).dtype, DType::kE4M3);
    EXPECT_EQ(cache_of(model).scales, KvScales::kBlock) << model;
  }
}

// A page of 64 rows of 584 bytes is 37440 bytes long, a multiple of 576.
TEST(CacheOfACase, has_a_page_stride_in_bytes_of_pages_that_are_rounded_up) {
  const auto stride_of = [](const std::string& bytes) {
    return only_case(
               "model: deepseek-v4-flash, tp: 64, layer: sliding, kv_cache: {dtype: fp8_ds_mla, "
               "page_size: 64, page_stride: {bytes: " +
               bytes + "}}, batch: q1s8")
        .kv_cache.page_stride;
  };
  EXPECT_EQ(stride_of("37440"), 64);
  EXPECT_EQ(stride_of("74880"), 128);
}

}  // namespace
}  // namespace attnbench
