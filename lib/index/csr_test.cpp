// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/error.h"
#include "lib/base/narrow.h"
#include "lib/batch/draft_tree.h"
#include "lib/batch/graph_padding.h"
#include "lib/index/csr.h"
#include "lib/index/page_table.h"
#include "lib/index/testing/test_batch.h"
#include "lib/index/testing/validate.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;
using testing::IsEmpty;
using Slots = std::vector<std::int32_t>;

// Slots 0-4 hold A0..A4, 5-6 B0 B1, 7-8 A5 A6, 9-13 C5..C9; C shares A's first five tokens.
const std::vector<Slots> kThreeRequests = {
    {0, 1, 2, 3, 4, 7, 8}, {5, 6}, {0, 1, 2, 3, 4, 9, 10, 11, 12, 13}};

TEST(BuildCsr, lists_token_slots_request_after_request) {
  const TestBatch test(ForwardMode::kExtend, kThreeRequests, {2, 2, 5});
  const CsrIndices csr = build_csr(test.batch, 1);
  EXPECT_THAT(csr.kv_indptr, ElementsAreArray({0, 7, 9, 19}));
  EXPECT_THAT(csr.kv_indices,
              ElementsAreArray({0, 1, 2, 3, 4, 7, 8, 5, 6, 0, 1, 2, 3, 4, 9, 10, 11, 12, 13}));
  EXPECT_THAT(csr.kv_last_page_len, ElementsAreArray({1, 1, 1}));
  EXPECT_THAT(qo_indptr(test.batch), ElementsAreArray({0, 2, 4, 9}));
}

TEST(BuildCsr, follows_slots_that_requests_took_in_turns) {
  // Slots in the order of arrival: A0 A1 B0 A2 C0 A3 A4 B1 C1.
  const TestBatch test(ForwardMode::kDecode, {{0, 1, 3, 5, 6}, {2, 7}, {4, 8}}, {1, 1, 1});
  const CsrIndices csr = build_csr(test.batch, 1);
  EXPECT_THAT(csr.kv_indptr, ElementsAreArray({0, 5, 7, 9}));
  EXPECT_THAT(csr.kv_indices, ElementsAreArray({0, 1, 3, 5, 6, 2, 7, 4, 8}));
}

TEST(BuildCsr, counts_pages_and_the_tokens_of_the_last_one) {
  const TestBatch test(ForwardMode::kDecode,
                       {slots_from(5, 4, 7), slots_from(2, 4, 2), slots_from(8, 4, 10)}, {1, 1, 1});
  const CsrIndices csr = build_csr(test.batch, 4);
  EXPECT_THAT(csr.kv_indptr, ElementsAreArray({0, 2, 3, 6}));
  EXPECT_THAT(csr.kv_last_page_len, ElementsAreArray({3, 2, 2}));
  EXPECT_THAT(csr.kv_indices, ElementsAreArray({5, 6, 2, 8, 9, 10}));
  validate_csr(csr, 11, 4);
}

TEST(BuildCsr, of_lengths_around_a_page_end_keeps_the_length_identity) {
  for (const std::int32_t len : {0, 1, 15, 16, 17, 32}) {
    const TestBatch test(ForwardMode::kDecode, {slots_from(3, 16, len)}, {1});
    const CsrIndices csr = build_csr(test.batch, 16);
    validate_csr(csr, 6, 16);
    const std::int32_t pages = csr.kv_indptr[1];
    EXPECT_EQ(pages == 0 ? 0 : 16 * (pages - 1) + csr.kv_last_page_len[0], len);
  }
}

TEST(BuildCsr, of_an_idle_batch_is_empty) {
  ForwardBatch batch;
  for (const std::int64_t page_size : {1, 16}) {
    const CsrIndices csr = build_csr(batch, page_size);
    EXPECT_THAT(csr.kv_indptr, ElementsAreArray({0}));
    EXPECT_THAT(csr.kv_indices, IsEmpty());
  }
  EXPECT_THAT(qo_indptr(batch), ElementsAreArray({0}));
}

TEST(BuildCsr, of_target_verify_covers_the_draft_tokens) {
  TestBatch test(ForwardMode::kTargetVerify, {slots_from(10, 1, 9), slots_from(30, 1, 11)}, {6, 6});
  test.batch.seq_lens = {3, 5};
  test.batch.spec_info =
      make_spec_info(std::vector<std::vector<int>>(2, {-1, 0, 0, 0, 1, 1}), test.batch.seq_lens);
  EXPECT_THAT(build_csr(test.batch, 1).kv_indptr, ElementsAreArray({0, 9, 20}));
  EXPECT_THAT(build_csr(test.batch, prefix_spans(test.batch)).kv_indices,
              ElementsAreArray({10, 11, 12, 30, 31, 32, 33, 34}));
  EXPECT_THAT(qo_indptr(test.batch), ElementsAreArray({0, 6, 12}));
}

TEST(BuildCsr, refuses_a_request_longer_than_its_row) {
  TestBatch test(ForwardMode::kDecode, {{1, 2, 3}}, {1}, 4);
  test.batch.seq_lens = {5};
  EXPECT_THROW(static_cast<void>(build_csr(test.batch, 1)), InternalError);
  test.batch.req_to_token_pool = nullptr;
  EXPECT_THROW(static_cast<void>(build_csr(test.batch, 1)), InternalError);
}

TEST(PrefixSpans, leave_out_the_new_tokens) {
  const TestBatch test(ForwardMode::kExtend, kThreeRequests, {2, 2, 5});
  const CsrIndices csr = build_csr(test.batch, prefix_spans(test.batch));
  EXPECT_THAT(csr.kv_indptr, ElementsAreArray({0, 5, 5, 10}));
  EXPECT_THAT(csr.kv_indices, ElementsAreArray({0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
}

TEST(PrefixSpans, of_requests_that_fill_a_prompt_up_are_empty_whatever_length_they_claim) {
  TestBatch test(ForwardMode::kExtend, kThreeRequests, {2, 2, 5});
  test.batch = with_padding(test.batch, 2, 1);
  EXPECT_THAT(prefix_spans(test.batch).len, ElementsAreArray({5, 0, 5, 0, 0}));
}

TEST(WindowSpans, of_a_decode_hold_the_window_and_the_own_key) {
  // A published sliding_window of 4096 is 4095 previous tokens.
  const TestBatch test(ForwardMode::kDecode, {slots_from(1, 1, 5000), slots_from(6001, 1, 100)},
                       {1, 1}, 5000);
  const KvSpans spans = window_spans(test.batch, 4095);
  EXPECT_THAT(spans.start, ElementsAreArray({904, 0}));
  EXPECT_THAT(spans.len, ElementsAreArray({4096, 100}));
  const CsrIndices csr = build_csr(test.batch, spans);
  EXPECT_EQ(csr.kv_indices.front(), 905);
  EXPECT_EQ(csr.kv_indices[4095], 5000);
  EXPECT_EQ(csr.kv_indices[4096], 6001);
}

TEST(WindowSpans, of_an_extend_reach_back_from_the_first_query) {
  const TestBatch test(ForwardMode::kExtend, {slots_from(1, 1, 20)}, {5});
  const KvSpans spans = window_spans(test.batch, 3);
  EXPECT_THAT(spans.start, ElementsAreArray({12}));  // query 15 sees 12..15
  EXPECT_THAT(spans.len, ElementsAreArray({8}));
  EXPECT_THAT(window_spans(test.batch, 0).len, ElementsAreArray({5}));
  EXPECT_THAT(window_spans(test.batch, -1).len, ElementsAreArray({20}));
  EXPECT_THROW(static_cast<void>(window_spans(test.batch, -2)), InternalError);
}

TEST(BuildCsr, splits_encoder_and_decoder_keys_by_start) {
  // An encoder-decoder's row holds the encoder's 3 tokens first, then the decoder's 4.
  TestBatch test(ForwardMode::kDecode, {slots_from(20, 1, 7)}, {1});
  const CsrIndices self = build_csr(test.batch, KvSpans{{3}, {4}});
  EXPECT_THAT(self.kv_indices, ElementsAreArray({23, 24, 25, 26}));
  test.batch.encoder_lens = {3};
  EXPECT_THAT(build_csr(test.batch, 1).kv_indices, ElementsAreArray({20, 21, 22}));
  EXPECT_THROW(static_cast<void>(prefix_spans(test.batch)), InternalError);
}

// SGLang has one row for both kinds of layers, the encoder's slots first: cross layers read
// len = encoder_lens from start = 0, the decoder's own len = seq_lens from start = encoder_lens
// (kv_start_idx of its FlashInfer updaters; encoder_page_table and text_col of its FlashAttention).
// vLLM has a block table for each. What a kernel gets is the same where pages have one token.
TEST(BuildCsr, of_one_row_for_encoder_and_decoder_lists_what_two_tables_would) {
  const std::vector<Slots> encoders = {slots_from(10, 1, 5), {}, slots_from(40, 1, 1)};
  const std::vector<Slots> decoders = {slots_from(20, 1, 2), slots_from(30, 1, 7),
                                       slots_from(60, 1, 4)};
  std::vector<Slots> rows = encoders;
  KvSpans behind_encoders;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    behind_encoders.start.push_back(narrow_i32(std::ssize(encoders[r])));
    behind_encoders.len.push_back(narrow_i32(std::ssize(decoders[r])));
    rows[r].insert(rows[r].end(), decoders[r].begin(), decoders[r].end());
  }
  TestBatch one_row(ForwardMode::kDecode, rows, {1, 1, 1});
  one_row.batch.seq_lens = behind_encoders.len;
  const TestBatch of_decoders(ForwardMode::kDecode, decoders, {1, 1, 1});
  const CsrIndices self = build_csr(one_row.batch, behind_encoders);
  const CsrIndices self_apart = build_csr(of_decoders.batch, 1);
  EXPECT_EQ(self.kv_indptr, self_apart.kv_indptr);
  EXPECT_EQ(self.kv_indices, self_apart.kv_indices);

  one_row.batch.encoder_lens = behind_encoders.start;
  TestBatch of_encoders(ForwardMode::kDecode, encoders, {1, 1, 1});
  of_encoders.batch.encoder_lens = behind_encoders.start;
  for (const std::int64_t page_size : {1, 5}) {
    const CsrIndices cross = build_csr(one_row.batch, page_size);
    const CsrIndices cross_apart = build_csr(of_encoders.batch, page_size);
    EXPECT_EQ(cross.kv_indptr, cross_apart.kv_indptr);
    EXPECT_EQ(cross.kv_indices, cross_apart.kv_indices);
    EXPECT_EQ(cross.kv_last_page_len, cross_apart.kv_last_page_len);
    EXPECT_EQ(build_page_table(one_row.batch, page_size).page_table,
              build_page_table(of_encoders.batch, page_size).page_table);
  }
  EXPECT_THAT(build_page_table(one_row.batch, 1).cache_seqlens, ElementsAreArray({5, 0, 1}));
  EXPECT_EQ(qo_indptr(one_row.batch), qo_indptr(of_decoders.batch));
}

const std::vector<Slots> kSlots = {slots_from(1, 1, 7), slots_from(20, 1, 2),
                                   slots_from(30, 1, 10)};

TEST(BuildVarlen, has_equal_sums_for_queries_and_keys_when_nothing_is_cached) {
  const TestBatch test(ForwardMode::kExtend, kSlots, {7, 2, 10});
  const Varlen varlen = build_varlen(test.batch);
  EXPECT_THAT(varlen.cu_seqlens_q, ElementsAreArray({0, 7, 9, 19}));
  EXPECT_EQ(varlen.cu_seqlens_k, varlen.cu_seqlens_q);
  EXPECT_EQ(varlen.max_seqlen_q, 10);
}

TEST(BuildVarlen, counts_cached_tokens_for_keys_only) {
  const TestBatch test(ForwardMode::kExtend, kSlots, {2, 2, 5});
  const Varlen varlen = build_varlen(test.batch);
  EXPECT_THAT(varlen.cu_seqlens_q, ElementsAreArray({0, 2, 4, 9}));
  EXPECT_THAT(varlen.cu_seqlens_k, ElementsAreArray({0, 7, 9, 19}));
  EXPECT_EQ(varlen.max_seqlen_q, 5);
  EXPECT_EQ(varlen.max_seqlen_k, 10);
}

TEST(BuildVarlen, of_a_decode_has_one_query_each) {
  const TestBatch test(ForwardMode::kDecode, kSlots, {1, 1, 1});
  const Varlen varlen = build_varlen(test.batch);
  EXPECT_THAT(varlen.cu_seqlens_q, ElementsAreArray({0, 1, 2, 3}));
  EXPECT_EQ(varlen.max_seqlen_q, 1);
}

TEST(BuildVarlen, of_a_verified_chain_counts_the_draft_tokens_as_keys) {
  TestBatch test(ForwardMode::kTargetVerify, {slots_from(4, 4, 9)}, {4});
  test.batch.seq_lens = {5};
  test.batch.spec_info =
      make_spec_info(std::vector<std::vector<int>>{{-1, 0, 1, 2}}, test.batch.seq_lens);
  const Varlen varlen = build_varlen(test.batch);
  EXPECT_THAT(varlen.cu_seqlens_q, ElementsAreArray({0, 4}));
  EXPECT_THAT(varlen.cu_seqlens_k, ElementsAreArray({0, 9}));
}

}  // namespace

}  // namespace attnbench
