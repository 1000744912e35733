// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Two ways to compute the same attention, as engines choose between them, agree to 1e-12.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "reference/testing/dense.h"
#include "reference/testing/expect_rows.h"

namespace attnbench::reference {
namespace {

ReferenceRow attend_one(const RowMatrix& q, const QueryRow& row, const RowMatrix& keys,
                        const RowMatrix& values, const LogitRule& rule = {.scale = 0.2}) {
  return attend_rows(q, {&row, 1}, rule, keys, values).front();
}

RowMatrix beside(const RowMatrix& left, const RowMatrix& right) {
  RowMatrix joined(left.rows(), left.cols() + right.cols());
  joined << left, right;
  return joined;
}

TEST(Mla, absorbed_and_up_projected_forms_agree) {
  // DeepSeek-V3: latent 512, nope 128, rope 64, v 128; one head.
  constexpr Eigen::Index kTokens = 70;
  const LogitRule rule{.scale = 1 / std::sqrt(192.0)};
  const RowMatrix latent = random_matrix(1, kTokens, 512), rope = random_matrix(2, kTokens, 64);
  const RowMatrix up_k = random_matrix(3, 128, 512) / std::sqrt(512.0);
  const RowMatrix up_v = random_matrix(4, 128, 512) / std::sqrt(512.0);
  const RowMatrix q_nope = random_matrix(5, 1, 128), q_rope = random_matrix(6, 1, 64);

  const ReferenceRow plain =
      attend_all(beside(q_nope, q_rope), beside(latent * up_k.transpose(), rope),
                 latent * up_v.transpose(), rule);
  const ReferenceRow absorbed =
      attend_all(beside(q_nope * up_k, q_rope), beside(latent, rope), latent, rule);
  const Eigen::Map<const Eigen::VectorXd> latent_out(absorbed.out.data(), 512);
  const Eigen::VectorXd out = up_v * latent_out;
  expect_near(std::vector<double>(out.begin(), out.end()), plain.out, 1e-12);
  EXPECT_NEAR(absorbed.lse, plain.lse, 1e-12);
}

TEST(Mla, absorbs_a_one_dimensional_head) {
  // W_UK = 2, W_UV = 3, latents 1 and 2, rope keys 0 and 1: logits 2 and 5 times the scale.
  const LogitRule rule{.scale = std::sqrt(0.5)};
  const ReferenceRow absorbed =
      attend_all(RowMatrix{{2, 1}}, RowMatrix{{1, 0}, {2, 1}}, RowMatrix{{1}, {2}}, rule);
  const double p = 1 / (1 + std::exp(-3 * rule.scale));
  EXPECT_NEAR(3 * absorbed.out[0], 3 * (1 - p) + 6 * p, 1e-14);
  EXPECT_NEAR(absorbed.lse, 5 * rule.scale - std::log(p), 1e-14);
}

TEST(TreeVerify, prefix_and_draft_stages_merge_to_the_masked_result) {
  Request request;
  request.q_len = 6;
  request.kv_len = 26;
  request.tree_parents = {-1, 0, 0, 0, 1, 1};
  const RowMatrix q = random_matrix(1, 6, 16), keys = random_matrix(2, 26, 16),
                  values = random_matrix(3, 26, 16);
  for (std::int64_t node = 0; node < 6; ++node) {
    QueryRow row;
    row.visible = keys_seen_by({}, request, node);
    const RowMatrix one = q.row(node);
    // Second stage: the visible draft keys gathered into a dense batch row of their own.
    const auto seen = static_cast<Eigen::Index>(row.visible.branch.size());
    RowMatrix draft_keys(seen, 16), draft_values(seen, 16);
    for (Eigen::Index i = 0; i < seen; ++i) {
      const std::int64_t key = row.visible.branch[static_cast<std::size_t>(i)].index;
      draft_keys.row(i) = keys.row(key);
      draft_values.row(i) = values.row(key);
    }
    const ReferenceRow prefix = attend_one(one, sees(0, 20), keys, values);
    const ReferenceRow draft = attend_one(one, sees(0, seen), draft_keys, draft_values);
    expect_same_result(merged(prefix, draft), attend_one(one, row, keys, values));
  }
}

TEST(Cascade, common_prefix_once_and_suffix_per_request_merge_to_the_whole) {
  const RowMatrix keys = random_matrix(1, 300, 16), values = random_matrix(2, 300, 16);
  const RowMatrix queries = random_matrix(3, 4, 16);
  for (const std::int64_t prefix : {0, 1, 256, 296}) {  // 0: an empty first part merges cleanly
    for (std::int64_t i = 0; i < 4; ++i) {
      QueryRow whole = sees(0, 297 + i), first = sees(0, prefix);
      whole.sink = first.sink = 0.5;  // one part may carry the sink, never both
      const RowMatrix q = queries.row(i);
      expect_same_result(merged(attend_one(q, first, keys, values),
                                attend_one(q, sees(prefix, 297 + i), keys, values)),
                         attend_one(q, whole, keys, values));
    }
  }
}

TEST(LocalAttention, virtual_batches_see_what_the_chunk_mask_shows) {
  // Chunks of 4 keys; the virtual batch items of three requests (q_len, kv_len) as (q, k, start).
  struct Item {
    std::int64_t q, k, start;
  };
  const std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, std::vector<Item>>> requests{
      {{4, 6}, {{2, 4, 0}, {2, 2, 4}}},
      {{10, 17}, {{1, 4, 4}, {4, 4, 8}, {4, 4, 12}, {1, 1, 16}}},
      {{5, 9}, {{4, 4, 4}, {1, 1, 8}}}};
  for (const auto& [lengths, items] : requests) {
    std::int64_t position = lengths.second - lengths.first;
    for (const Item& item : items) {
      Request part;
      part.q_len = item.q;
      part.kv_len = item.k;
      for (std::int64_t token = 0; token < item.q; ++token, ++position) {
        const VisibleKeys seen = keys_seen_by({}, part, token);
        EXPECT_EQ(item.start + seen.begin, position / 4 * 4);
        EXPECT_EQ(item.start + seen.end, position + 1);
      }
    }
    EXPECT_EQ(position, lengths.second);
  }
}

TEST(DualChunk, three_branches_merge_to_one_softmax_over_mixed_logits) {
  // Chunk 8 with 2 local tokens: c = 6. Branch lengths of a decode at length L.
  constexpr std::int64_t kChunk = 6;
  const RowMatrix keys = random_matrix(1, 20, 8), values = random_matrix(2, 20, 8);
  const RowMatrix q = random_matrix(3, 3, 8);  // variants for the own, previous, older chunks
  const std::vector<std::vector<std::int64_t>> lengths{
      {6, 6, 0, 0}, {7, 1, 6, 0}, {13, 1, 6, 6}, {20, 2, 6, 12}};
  for (const auto& length : lengths) {
    const std::int64_t all = length[0], own = (all - 1) / kChunk * kChunk;
    const std::int64_t previous = std::max<std::int64_t>(own - kChunk, 0);
    EXPECT_EQ(all - own, length[1]);
    EXPECT_EQ(own - previous, length[2]);
    EXPECT_EQ(previous, length[3]);
    // One softmax: the three variants side by side, each key in the columns of its own variant.
    RowMatrix wide_q(1, 24), wide_keys = RowMatrix::Zero(all, 24);
    wide_q << q.row(0), q.row(1), q.row(2);
    for (std::int64_t j = 0; j < all; ++j) {
      const std::int64_t variant = j >= own ? 0 : j >= previous ? 1 : 2;
      wide_keys.row(j).segment(8 * variant, 8) = keys.row(j);
    }
    const std::vector<QueryRow> rows{sees(own, all), sees(previous, own), sees(0, previous)};
    const auto parts = attend_rows(q, rows, {.scale = 0.2}, keys, values);
    expect_same_result(merged(merged(parts[0], parts[1]), parts[2]),
                       attend_one(wide_q, sees(0, all), wide_keys, values));
  }
}

}  // namespace
}  // namespace attnbench::reference
