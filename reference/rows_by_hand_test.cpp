// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of whole cases beside figures that a pocket calculator gives: of so few keys, or of logits
// so plain, that no second implementation is needed.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "lib/contents/contents.h"
#include "reference/oracle.h"

namespace attnbench::reference {
namespace {

constexpr int kHandDim = 32;

Case softmax_case(ForwardMode mode, int heads_q, int heads_kv, const Request& request) {
  Case c;
  c.id = "by_hand";
  c.seed = 5;
  c.mode = mode;
  c.layer.heads_q = heads_q;
  c.layer.heads_kv = heads_kv;
  c.layer.head_dim_qk = c.layer.head_dim_v = kHandDim;
  c.layer.scale = 0.3;  // other than 1 / sqrt(32)
  c.requests.push_back(request);
  return c;
}

/// A tree of six nodes behind `prefix` keys: 1, 2, 3 below the root, and 4, 5 below 1.
Request draft_behind(std::int64_t prefix) {
  return {.q_len = 6, .kv_len = prefix + 6, .tree_parents = {-1, 0, 0, 0, 1, 1}};
}

ReferenceRow row_of(const Case& c, std::int64_t token, int head) {
  const RowId id{.request = 0, .token = token, .head = head};
  return evaluate_rows(c, Contents(c, Fill::kNormal), {&id, 1}).front();
}

/// scale * q.k of numbers as they are meant, in the query's form `form`.
double logit_of_key(const Case& c, std::int64_t token, int head, std::int64_t key,
                    std::size_t form = 0) {
  const Contents contents(c, Fill::kNormal);
  const int kv_head = head * c.layer.heads_kv / c.layer.heads_q;
  std::vector<float> q(static_cast<std::size_t>(c.layer.query_dim()));
  std::vector<float> k(static_cast<std::size_t>(c.layer.head_dim_qk));
  contents.q_row(0, token, head, q);
  contents.k_row(0, key, kv_head, k);
  const RowScale scale = contents.k_scale(0, key, kv_head);
  double dot = 0;
  for (std::size_t d = 0; d < k.size(); ++d) {
    dot += static_cast<double>(q[form * k.size() + d]) * static_cast<double>(k[d]) *
           static_cast<double>(scale.at(static_cast<std::uint32_t>(d)));
  }
  return c.layer.scale * dot * static_cast<double>(contents.q_scale(0, token, head));
}

double log_of_sum(const std::vector<double>& logits) {
  double sum = 0;
  for (const double logit : logits) sum += std::exp(logit);
  return std::log(sum);
}

std::vector<Case> cases_of_one_key() {
  Case c = softmax_case(ForwardMode::kExtend, 4, 2, {.q_len = 3, .kv_len = 9});
  c.layer.sliding_window_size = 0;
  std::vector<Case> cases{c};
  c.kv_cache.dtype = DType::kE4M3;
  c.kv_cache.k_scale = 0.37f;
  c.kv_cache.v_scale = 5;
  c.fp8.q = DType::kE4M3;
  c.q_scale = 0.21f;
  cases.push_back(c);
  c.q_scale = 1;
  for (const QScales scales : {QScales::kHead, QScales::kToken, QScales::kRequest}) {
    c.fp8.q_scales = scales;
    cases.push_back(c);
  }
  c.kv_cache.k_scale = c.kv_cache.v_scale = 1;
  for (const KvScales scales : {KvScales::kHead, KvScales::kToken, KvScales::kRequest}) {
    c.kv_cache.scales = scales;
    cases.push_back(c);
  }
  c.layer.family = Family::kLatent;
  c.layer.heads_kv = 1;
  c.layer.head_dim_v = 256;
  c.layer.head_dim_qk = 264;
  c.kv_cache.scales = KvScales::kBlock;
  cases.push_back(c);
  return cases;
}

TEST(RowsByHand, of_a_single_key_are_its_scaled_product_and_its_scaled_value) {
  for (const Case& c : cases_of_one_key()) {
    SCOPED_TRACE(to_string(c.kv_cache.scales));
    const Contents contents(c, Fill::kNormal);
    for (int head = 0; head < 4; ++head) {
      const std::int64_t key = 7;  // of token 1, behind a prefix of six
      const int kv_head = head * c.layer.heads_kv / 4;
      const ReferenceRow row = row_of(c, 1, head);
      EXPECT_NEAR(row.lse, logit_of_key(c, 1, head, key), 1e-12);
      const bool latent = c.layer.family == Family::kLatent;
      std::vector<float> v(
          static_cast<std::size_t>(latent ? c.layer.head_dim_qk : c.layer.head_dim_v));
      latent ? contents.k_row(0, key, kv_head, v) : contents.v_row(0, key, kv_head, v);
      const RowScale scale =
          latent ? contents.k_scale(0, key, kv_head) : contents.v_scale(0, key, kv_head);
      for (std::size_t d = 0; d < row.out.size(); ++d) {
        const auto of_dim = static_cast<double>(scale.at(static_cast<std::uint32_t>(d)));
        ASSERT_NEAR(row.out[d], static_cast<double>(v[d]) * of_dim, 1e-12) << d;
      }
    }
  }
}

/// The LSE of keys at distances 0 .. `keys` - 1 whose products are all 0.
double lse_of_slope(double slope, int keys) {
  std::vector<double> logits;
  for (int distance = 0; distance < keys; ++distance) logits.push_back(-slope * distance);
  return log_of_sum(logits);
}

// Press et al., arXiv:2108.12409: 2^(-8 (h + 1) / n) of n = 8 heads; of six those of four heads and
// every other one of eight; of twelve heads on two ranks the first rank has those of eight.
TEST(RowsByHand, of_alibi_fall_by_the_slope_of_their_head) {
  struct Heads {
    int heads, ranks;
    std::vector<double> slopes;
  };
  for (const Heads& of : {Heads{8, 1, {.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625}},
                          Heads{6, 1, {.25, .0625, .015625, .00390625, .5, .125}},
                          Heads{6, 2, {.5, .25, .125, .0625, .03125, .015625}}}) {
    Case c = softmax_case(ForwardMode::kDecode, of.heads, 2, {.q_len = 1, .kv_len = 3});
    c.layer.has_alibi = true;
    c.layer.ranks = of.ranks;
    c.layer.scale = 0;
    for (int head = 0; head < of.heads; ++head) {
      EXPECT_NEAR(row_of(c, 0, head).lse,
                  lse_of_slope(of.slopes[static_cast<std::size_t>(head)], 3), 1e-12)
          << head << " of " << of.heads;
    }
  }
}

TEST(RowsByHand, of_alibi_in_a_draft_tree_count_depths_not_nodes) {
  Case c = softmax_case(ForwardMode::kTargetVerify, 8, 2, draft_behind(1));
  c.layer.has_alibi = true;
  c.layer.scale = 0;
  // Node 5, its parent 1, the root and the one key of the prefix: 0, 1, 2 and 3 tokens back.
  EXPECT_NEAR(row_of(c, 5, 0).lse, lse_of_slope(0.5, 4), 1e-12);
  EXPECT_NEAR(row_of(c, 3, 0).lse, lse_of_slope(0.5, 3), 1e-12);
}

TEST(RowsByHand, behind_the_length_of_the_temperature_grow_by_the_ratio_of_logarithms) {
  Case plain = softmax_case(ForwardMode::kExtend, 2, 2, {.q_len = 6, .kv_len = 9});
  plain.layer.sliding_window_size = 0;
  Case warm = plain;
  warm.layer.temperature_len = 4;
  const auto ratio = [&](std::int64_t token) {
    return row_of(warm, token, 1).lse / row_of(plain, token, 1).lse;
  };
  EXPECT_NEAR(ratio(0), 1, 1e-12);           // place 3
  EXPECT_NEAR(ratio(1), 1, 1e-12);           // 4
  EXPECT_NEAR(ratio(2), 1.160964047, 1e-9);  // 5: log2 is 2.321928095, beside 2
  EXPECT_NEAR(ratio(5), 1.5, 1e-12);         // 8
  plain.mode = warm.mode = ForwardMode::kTargetVerify;
  plain.requests[0] = warm.requests[0] = draft_behind(7);
  EXPECT_NEAR(ratio(5), 1.792481250, 1e-9) << "place 12, where its depth is 2: position 9";
}

TEST(RowsByHand, of_dual_chunks_meet_keys_in_the_form_of_their_distance) {
  // Chunk 8 with 2 local tokens, 6 keys a chunk: how many keys meet intra, succ and inter.
  struct Lengths {
    std::int64_t all, intra, succ;
  };
  for (const Lengths& of : {Lengths{6, 6, 0}, {7, 1, 6}, {13, 1, 6}, {20, 2, 6}}) {
    Case c = softmax_case(ForwardMode::kDecode, 2, 1, {.q_len = 1, .kv_len = of.all});
    c.layer.dual_chunk = {8, 2};
    std::vector<double> logits;
    for (std::int64_t key = 0; key < of.all; ++key) {
      const std::int64_t back = of.all - key;  // 1: the last key
      const std::size_t form = back <= of.intra ? 0 : back <= of.intra + of.succ ? 1 : 2;
      logits.push_back(logit_of_key(c, 0, 1, key, form));
    }
    EXPECT_NEAR(row_of(c, 0, 1).lse, log_of_sum(logits), 1e-12) << of.all;
  }
}

TEST(RowsByHand, of_sinks_have_that_of_their_query_head_in_the_denominator) {
  Case c = softmax_case(ForwardMode::kExtend, 4, 2, {.q_len = 2, .kv_len = 1});
  c.layer.has_sinks = true;
  const Contents contents(c, Fill::kNormal);
  for (int head = 0; head < 4; ++head) {
    const auto sink = static_cast<double>(contents.sink(head));
    EXPECT_NEAR(row_of(c, 0, head).lse, sink, 1e-12) << "a query before key 0";
    EXPECT_NEAR(row_of(c, 1, head).lse, log_of_sum({logit_of_key(c, 1, head, 0), sink}), 1e-12);
  }
}

}  // namespace
}  // namespace attnbench::reference
