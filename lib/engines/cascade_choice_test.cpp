// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/engines/cascade_choice.h"

#include <gtest/gtest.h>

#include <utility>

namespace attnbench {
namespace {

/// Decodes behind one prefix, 32 query heads over 8, pages of 16.
Case behind_a_prefix(std::size_t requests, std::int64_t prefix) {
  Case c;
  c.layer.heads_q = 32;
  c.layer.heads_kv = 8;
  c.kv_cache.page_size = 16;
  c.prefixes = {{"system", prefix}};
  Request request;
  request.shared_prefix = 0;
  request.shared_len = prefix;
  request.kv_len = prefix + 512;
  c.requests.assign(requests, request);
  return c;
}

using Answer = std::pair<std::string, std::string>;

Answer answer(const Case& c, int multiprocessors = kDefaultSmCount) {
  const CascadeChoice choice = choose_cascade(c, multiprocessors);
  return {choice.answer, choice.reason};
}

TEST(ChooseCascade, is_dash_where_nothing_is_shared) {
  Case c = behind_a_prefix(64, 8192);
  for (Request& request : c.requests) request.shared_prefix = -1, request.shared_len = 0;
  EXPECT_EQ(answer(c), Answer("-", "no shared prefix"));
  c.requests.front().shared_prefix = 0;
  c.requests.front().shared_len = 8192;  // alone behind it
  EXPECT_EQ(answer(c), Answer("-", "no shared prefix"));
  c.requests.clear();
  EXPECT_EQ(answer(c), Answer("-", "no shared prefix"));
}

TEST(ChooseCascade, asks_the_rule_with_this_gpus_multiprocessors) {
  // 8192 / 128 = 64 tiles of keys. 32 blocks of one head make one wave: 64 in turn. FlashDecoding:
  // 64 x 8 x 64 = 32768 blocks, 249 waves on 132 multiprocessors, 512 on 64.
  EXPECT_EQ(answer(behind_a_prefix(64, 8192)),
            Answer("yes", "64 tiles in turn, 249 by FlashDecoding, on 132 SMs"));
  EXPECT_EQ(answer(behind_a_prefix(64, 8192), 64),
            Answer("yes", "64 tiles in turn, 512 by FlashDecoding, on 64 SMs"));
  // 8 x 8 x 64 = 4096 blocks, 32 waves on 132.
  EXPECT_EQ(answer(behind_a_prefix(8, 8192)),
            Answer("no", "64 tiles in turn, 32 by FlashDecoding, on 132 SMs"));
  EXPECT_EQ(answer(behind_a_prefix(7, 8192)), Answer("no", "7 requests, fewer than 8"));
}

TEST(ChooseCascade, counts_whole_pages_of_what_was_there_before_this_step) {
  Case c = behind_a_prefix(64, 8192);
  EXPECT_EQ(common_prefix_len(c), 8192);
  c.requests[5].shared_len = 300;  // 18 pages of 16
  EXPECT_EQ(common_prefix_len(c), 288);
  EXPECT_EQ(answer(c).first, "yes");
  c.requests[6].q_len = 33;
  c.requests[6].kv_len = 300;  // 267 cached, 16 pages
  EXPECT_EQ(common_prefix_len(c), 256);
  EXPECT_EQ(answer(c), Answer("yes", "FlashDecoding needs single queries"));
  c.requests[6].q_len = 45;  // 255 cached, 15 pages
  EXPECT_EQ(answer(c), Answer("no", "common prefix of 240 tokens, fewer than 256"));
}

TEST(ChooseCascade, is_no_where_some_request_stands_apart) {
  Case c = behind_a_prefix(64, 8192);
  c.requests[3].shared_prefix = -1;
  EXPECT_EQ(answer(c), Answer("no", "no whole page is common to all requests"));
  c.requests[3].shared_prefix = 1;
  c.prefixes.push_back({"other", 8192});
  EXPECT_EQ(answer(c), Answer("no", "no whole page is common to all requests"));
}

TEST(ChooseCascade, takes_of_branches_the_last_common_ancestor) {
  Case c = behind_a_prefix(64, 8192);
  c.prefixes = {{"system", 1000}, {"tools", 8192, 0}, {"plain", 8192, 0}, {"deep", 9000, 2}};
  for (Request& request : c.requests) request.shared_prefix = 1;
  EXPECT_EQ(common_prefix_len(c), 8192);
  c.requests[3].shared_prefix = 2;
  c.requests[4].shared_prefix = 3;
  EXPECT_EQ(common_prefix_len(c), 992);
  c.requests = {c.requests[3], c.requests[4]};
  EXPECT_EQ(common_prefix_len(c), 8192);
  c.requests[0].shared_prefix = 1;
  EXPECT_EQ(answer(c), Answer("no", "2 requests, fewer than 8")) << "they share their root";
}

TEST(ChooseCascade, is_no_where_decoders_share_an_encoders_keys) {
  Case c = behind_a_prefix(64, 8192);
  c.layer.is_cross_attention = true;
  EXPECT_EQ(common_prefix_len(c), 0);
  EXPECT_EQ(answer(c), Answer("no", "vLLM shares no blocks of an encoder's keys"));
}

TEST(ChooseCascade, is_no_for_the_decoder_s_own_layers_beside_an_encoder) {
  Case c = behind_a_prefix(64, 8192);
  c.geometry.kinds[LayerKind::kFull] = 32;
  EXPECT_EQ(answer(c).first, "yes");
  c.geometry.kinds[LayerKind::kCross] = 8;
  EXPECT_EQ(answer(c), Answer("no", "vLLM caches no prefix beside an encoder"));
}

TEST(ChooseCascade, is_no_for_layers_that_vllm_computes_otherwise) {
  Case c = behind_a_prefix(64, 8192);
  c.layer.sliding_window_size = 1023;
  EXPECT_EQ(answer(c), Answer("no", "sliding window"));
  c.layer.sliding_window_size = 0;
  EXPECT_EQ(answer(c), Answer("no", "sliding window")) << "of the own key alone";
  c.layer.sliding_window_size = -1;
  c.layer.attention_chunk = 8192;
  EXPECT_EQ(answer(c), Answer("no", "local attention"));
  c.layer.attention_chunk = 0;
  c.layer.has_alibi = true;
  EXPECT_EQ(answer(c), Answer("no", "ALiBi"));
  c.layer.has_alibi = false;
  c.layer.family = Family::kLatent;
  EXPECT_EQ(answer(c), Answer("no", "vLLM has no cascade for MLA"));
}

}  // namespace
}  // namespace attnbench
