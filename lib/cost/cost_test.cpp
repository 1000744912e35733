// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/cost/cost.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "lib/base/error.h"
#include "lib/cost/testing/batches.h"
#include "lib/scenario/testing/small_cases.h"
#include "reference/visible_keys.h"

namespace attnbench {
namespace {

/// Everything but KV of 64 decodes of 4096 tokens, with pages of one token: Q, O, LSE, table.
std::int64_t beside_kv(std::int64_t q, std::int64_t out, std::int64_t heads) {
  return q + out + 64 * heads * 4 + 64 * 4096 * 4;
}

TEST(Cost, counts_what_a_kv_write_reads_and_writes) {
  Case c = batch_of(64, 1, 4096);
  const Cost attention = count_cost(c);
  c.step = StepPart::kKvWrite;
  const Cost write = count_cost(c);
  const std::int64_t rows = 64 * 8 * (128 + 128);  // elements of k_new and v_new
  EXPECT_EQ(write.kv_bytes_written, rows * 2);
  EXPECT_EQ(write.bytes_unique, rows * 2 + rows * 2 + 64 * 8) << "bf16 in, bf16 out, a slot each";
  EXPECT_EQ(write.flops, 0);
  EXPECT_EQ(write.visible_pairs, 0);
  // Written rows may stay in a cache: the roofline waits for what is read alone.
  EXPECT_DOUBLE_EQ(roofline_s(write, {.read_bytes_per_s = 1e12}),
                   static_cast<double>(rows * 2 + 64 * 8) / 1e12);
  c.kv_cache.dtype = DType::kE4M3;
  EXPECT_EQ(count_cost(c).kv_bytes_written, rows);
  EXPECT_EQ(count_cost(c).bytes_unique, rows * 2 + rows + 64 * 8);
  c.kv_cache.dtype = DType::kBF16;
  c.step = StepPart::kBoth;
  const Cost both = count_cost(c);
  EXPECT_EQ(both.flops, attention.flops);
  EXPECT_EQ(both.bytes_unique, attention.bytes_unique + rows * 2 + 64 * 8)
      << "attention counts the written rows already";
}

TEST(Cost, counts_the_keys_of_new_encoders_in_a_cross_layers_write_and_all_in_its_attention) {
  Case c = small_cross();  // lengths of encoders: 1, 7, 8, 9, 3, 33
  const std::int64_t row = c.layer.heads_kv * (64 + 64) * size_bytes(c.dtype);
  const Cost write = count_cost(with_step(c, StepPart::kKvWrite));
  EXPECT_EQ(write.kv_bytes_written, (7 + 33) * row);
  EXPECT_EQ(write.bytes_unique, (7 + 33) * (2 * row + 8)) << "rows in, rows out, a slot each";
  EXPECT_EQ(write.flops, 0);
  EXPECT_EQ(count_cost(c).kv_bytes_unique, (1 + 7 + 8 + 9 + 3 + 33) * row);
  for (Request& request : c.requests) request.encoder_cached = true;
  EXPECT_EQ(count_cost(with_step(c, StepPart::kKvWrite)).kv_bytes_written, 0);
}

TEST(Cost, counts_the_one_row_that_an_mla_token_writes) {
  Case c = small_mla();
  c.step = StepPart::kKvWrite;
  EXPECT_EQ(count_cost(c).kv_bytes_written, c.q_tokens() * 576 * size_bytes(c.kv_cache.dtype));
}

TEST(Cost, counts_the_scales_that_a_kv_write_reads_and_writes) {
  Case c = small_fp8();
  c.step = StepPart::kKvWrite;
  const Cost plain = count_cost(c);
  const std::int64_t scales = c.layer.heads_kv * 2 * 4;  // bytes, of K and V
  c.kv_cache.scales = KvScales::kHead;
  EXPECT_EQ(count_cost(c).kv_bytes_written, plain.kv_bytes_written);
  EXPECT_EQ(count_cost(c).bytes_unique, plain.bytes_unique + scales);
  c.kv_cache.scales = KvScales::kToken;
  EXPECT_EQ(count_cost(c).kv_bytes_written, plain.kv_bytes_written + c.q_tokens() * scales);
  EXPECT_EQ(count_cost(c).bytes_unique, plain.bytes_unique + c.q_tokens() * scales);
  Case mla = small_mla();
  mla.step = StepPart::kKvWrite;
  mla.kv_cache.dtype = DType::kE4M3;
  mla.kv_cache.scales = KvScales::kBlock;
  EXPECT_EQ(count_cost(mla).kv_bytes_written, mla.q_tokens() * 656);
  EXPECT_EQ(count_cost(mla).bytes_unique, mla.q_tokens() * (576 * 2 + 8 + 656)) << "bf16 in";
  mla.layer.head_dim_qk = 512;
  mla.kv_cache.scales = KvScales::kGroup;
  EXPECT_EQ(count_cost(mla).kv_bytes_written, mla.q_tokens() * 584);
}

TEST(Cost, counts_a_llama_decode) {
  const Cost cost = count_cost(batch_of(64, 1, 4096));
  EXPECT_EQ(cost.visible_pairs, 64 * 4096);
  EXPECT_EQ(cost.flops, 4'294'967'296);
  EXPECT_EQ(cost.kv_bytes_unique, 1'073'741'824);
  EXPECT_EQ(cost.kv_bytes_streamed, 1'073'741'824);
  EXPECT_EQ(cost.bytes_unique, 1'073'741'824 + beside_kv(524'288, 524'288, 32));
  // KV, Q and O at the 4.8 TB/s of an H200, then LSE and table.
  EXPECT_NEAR(roofline_s(cost, {.read_bytes_per_s = 4.8e12}) * 1e6, 223.9 + 0.22, 0.06);
}

TEST(Cost, reads_a_latent_row_once_for_k_and_v) {
  Case c = batch_of(64, 1, 4096);
  c.layer.family = Family::kLatent;
  c.layer.heads_q = 128;
  c.layer.heads_kv = 1;
  c.layer.head_dim_qk = 576;
  c.layer.head_dim_v = 512;
  const Cost cost = count_cost(c);
  EXPECT_EQ(cost.kv_bytes_unique, 301'989'888);
  EXPECT_EQ(cost.flops, 73'014'444'032);
  EXPECT_EQ(cost.bytes_unique, 301'989'888 + beside_kv(9'437'184, 8'388'608, 128));
}

TEST(Cost, counts_queries_and_outputs_in_fp8_and_the_scales_of_requests) {
  Case c = small_chunked_mixed();
  c.kv_cache.dtype = DType::kE4M3;
  const Cost plain = count_cost(c);
  const std::int64_t queries = c.q_tokens() * c.layer.heads_q * c.layer.head_dim_qk;
  const std::int64_t outputs = c.q_tokens() * c.layer.heads_q * c.layer.head_dim_v;
  c.fp8.q = DType::kE4M3;
  EXPECT_EQ(count_cost(c).bytes_unique, plain.bytes_unique - queries) << "1 byte instead of 2";
  c.fp8.out = DType::kE5M2;
  EXPECT_EQ(count_cost(c).bytes_unique, plain.bytes_unique - queries - outputs);
  const std::int64_t scales = std::ssize(c.requests) * c.layer.heads_kv * 4;
  c.fp8.q_scales = QScales::kRequest;
  EXPECT_EQ(count_cost(c).bytes_unique, plain.bytes_unique - queries - outputs + scales);
  c.kv_cache.scales = KvScales::kRequest;
  EXPECT_EQ(count_cost(c).bytes_unique, plain.bytes_unique - queries - outputs + 3 * scales);
  c.fp8.q_scales = QScales::kHead;
  const std::int64_t without_q = plain.bytes_unique - queries - outputs + 2 * scales;
  EXPECT_EQ(count_cost(c).bytes_unique, without_q + c.layer.heads_kv * 4);
  c.fp8.q_scales = QScales::kToken;
  EXPECT_EQ(count_cost(c).bytes_unique, without_q + c.q_tokens() * c.layer.heads_q * 4);
}

TEST(Cost, counts_the_scales_of_a_cache) {
  Case c = small_fp8();
  const std::int64_t heads = c.layer.heads_kv;
  const auto per_key = [](const Case& of) {
    return count_cost(of).kv_bytes_streamed / of.kv_tokens();
  };
  const Cost plain = count_cost(c);
  const std::int64_t plain_bytes = per_key(c);
  c.kv_cache.scales = KvScales::kToken;
  EXPECT_EQ(per_key(c), plain_bytes + heads * 2 * 4);
  c.kv_cache.scales = KvScales::kHead;
  EXPECT_EQ(count_cost(c).bytes_unique, plain.bytes_unique + heads * 2 * 4);
  Case mla = small_mla();
  mla.kv_cache.dtype = DType::kE4M3;
  EXPECT_EQ(per_key(mla), 576);
  const std::int64_t latent = count_cost(mla).bytes_unique;
  mla.kv_cache.scales = KvScales::kHead;
  EXPECT_EQ(count_cost(mla).bytes_unique, latent + 4) << "one scale, of K and V";
  mla.kv_cache.scales = KvScales::kToken;
  EXPECT_EQ(per_key(mla), 580);
  mla.kv_cache.scales = KvScales::kBlock;
  EXPECT_EQ(per_key(mla), 656);
  mla.layer.head_dim_qk = 512;
  mla.kv_cache.scales = KvScales::kGroup;
  EXPECT_EQ(per_key(mla), 584) << "whatever a page is rounded up by";
}

TEST(Cost, counts_an_extend_behind_a_prefix) {
  Case c = batch_of(1, 512, 1536);
  c.layer.heads_kv = 32;
  EXPECT_EQ(count_cost(c).visible_pairs, 655'616);
  EXPECT_EQ(count_cost(c).flops, 10'741'612'544);
}

TEST(Cost, counts_a_shared_prefix_once) {
  Case c = batch_of(32, 1, 4096 + 128);
  c.prefixes = {{"system", 4096}, {"unused", 1 << 20}};
  for (Request& request : c.requests) request.shared_prefix = 0, request.shared_len = 4096;
  const Cost cost = count_cost(c);
  EXPECT_EQ(cost.kv_bytes_unique, 33'554'432);
  EXPECT_EQ(cost.kv_bytes_streamed, 553'648'128);
  EXPECT_EQ(cost.bytes_streamed - cost.bytes_unique, 553'648'128 - 33'554'432);
}

TEST(Cost, counts_pages_of_the_table_not_tokens) {
  Case tokens = batch_of(2, 1, 33), pages = tokens;
  pages.kv_cache.page_size = 16;
  EXPECT_EQ(count_cost(tokens).bytes_unique - count_cost(pages).bytes_unique, 2 * (33 - 3) * 4);
}

TEST(Cost, of_ragged_keys_reads_where_each_request_s_begin_instead_of_a_table) {
  Case tokens = batch_of(2, 1, 33), ragged = tokens;
  ragged.kv_cache.layout = KvLayout::kRagged;
  EXPECT_EQ(count_cost(tokens).bytes_unique - count_cost(ragged).bytes_unique, 2 * (33 - 1) * 4);
  EXPECT_EQ(count_cost(tokens).kv_bytes_unique, count_cost(ragged).kv_bytes_unique);
}

TEST(Cost, shares_whole_pages_only) {
  Case c = batch_of(2, 1, 40);
  c.prefixes = {{"few_shot", 37}};
  for (Request& request : c.requests) request.shared_prefix = 0, request.shared_len = 37;
  const std::int64_t per_key = 8 * 256 * 2;
  EXPECT_EQ(count_cost(c).kv_bytes_unique, (37 + 2 * 3) * per_key);
  c.kv_cache.page_size = 16;
  EXPECT_EQ(count_cost(c).kv_bytes_unique, (32 + 2 * 8) * per_key);
  const std::int64_t table = count_cost(c).bytes_unique - count_cost(c).kv_bytes_unique;
  c.kv_cache.manager_page_size = 48;
  EXPECT_EQ(count_cost(c).kv_bytes_unique, 2 * 40 * per_key);
  EXPECT_EQ(count_cost(c).bytes_unique - count_cost(c).kv_bytes_unique, table)
      << "the table has the kernel's pages";
}

TEST(Cost, leaves_out_keys_that_no_window_reaches) {
  Case c = batch_of(1, 1, 5000);
  c.layer.sliding_window_size = 4095;
  const std::int64_t per_key = 8 * 256 * 2;
  EXPECT_EQ(count_cost(c).visible_pairs, 4096);
  EXPECT_EQ(count_cost(c).kv_bytes_unique, 4096 * per_key);
  EXPECT_EQ(count_cost(c).kv_bytes_streamed, 4096 * per_key);
  EXPECT_EQ(count_cost(c).bytes_unique, 4096 * per_key + 32 * (2 * 256 + 4) + 4096 * 4)
      << "Q, O, LSE and the table's entries of seen pages";
  c.requests[0].q_len = 5;  // the first of five rows reaches four keys farther back
  EXPECT_EQ(count_cost(c).kv_bytes_unique, 4100 * per_key);
}

TEST(Cost, of_a_request_without_queries_is_nothing) {
  EXPECT_EQ(count_cost(batch_of(1, 0, 5000)).bytes_unique, 0);
}

TEST(Cost, of_a_composed_step_is_that_of_its_parts_together) {
  Case c = small_composed_step();
  for (Case& part : c.parts) part.step = StepPart::kBoth;
  const Cost whole = count_cost(c), one = count_cost(c.parts[0]), other = count_cost(c.parts[1]);
  for (const auto member :
       {&Cost::visible_pairs, &Cost::flops, &Cost::bytes_unique, &Cost::bytes_streamed,
        &Cost::kv_bytes_unique, &Cost::kv_bytes_streamed, &Cost::kv_bytes_written}) {
    EXPECT_GT(one.*member, 0);
    EXPECT_EQ(whole.*member, one.*member + other.*member);
  }
}

TEST(Cost, of_a_chunked_layer_takes_the_own_chunk_alone) {
  Case c = batch_of(1, 1, 100'000);
  c.layer.attention_chunk = 8192;
  const std::int64_t per_key = 8 * 256 * 2, own = 100'000 - 12 * 8192;
  EXPECT_EQ(count_cost(c).visible_pairs, own);
  EXPECT_EQ(count_cost(c).kv_bytes_unique, own * per_key);
  c.requests[0].q_len = 10'000;  // from place 90 000 on
  EXPECT_EQ(count_cost(c).kv_bytes_unique, (100'000 - 10 * 8192) * per_key);
}

TEST(Cost, of_dual_chunks_reads_three_forms_of_each_query_and_computes_as_much) {
  Case c = batch_of(4, 2, 64);
  const Cost plain = count_cost(c);
  c.layer.dual_chunk = {8192, 1024};
  const Cost dual = count_cost(c);
  EXPECT_EQ(dual.flops, plain.flops);
  EXPECT_EQ(dual.kv_bytes_unique, plain.kv_bytes_unique);
  EXPECT_EQ(dual.bytes_unique - plain.bytes_unique,
            2 * c.q_tokens() * c.layer.heads_q * c.layer.head_dim_qk * size_bytes(c.dtype));
}

TEST(Cost, of_a_shared_prefix_takes_what_any_window_reaches) {
  Case c = batch_of(3, 1, 100);
  c.layer.sliding_window_size = 9;
  c.prefixes = {{"system", 100}};
  for (Request& request : c.requests) request.shared_prefix = 0, request.shared_len = 100;
  c.requests[0].kv_len = 102;  // sees 92 .. 101
  c.requests[1].kv_len = 105;  // sees 95 .. 104
  c.requests[2].kv_len = 200;  // sees nothing of the prefix
  const std::int64_t per_key = 8 * 256 * 2;
  EXPECT_EQ(count_cost(c).kv_bytes_unique, (8 + 2 + 5 + 10) * per_key);
}

TEST(Cost, of_an_idle_step_is_nothing) {
  const Cost cost = count_cost(small_idle());
  EXPECT_EQ(cost.flops, 0);
  EXPECT_EQ(cost.bytes_unique, 0);
  EXPECT_EQ(roofline_s(cost, {.read_bytes_per_s = 1, .flop_per_s = 1}), 0);
}

TEST(Cost, refuses_what_does_not_fit_63_bits) {
  EXPECT_GT(count_cost(batch_of(1, 1 << 20, 1 << 20)).flops, 0);
  EXPECT_THROW((void)count_cost(batch_of(1, 1, std::numeric_limits<std::int64_t>::max() / 2)),
               ConfigError);
}

TEST(Roofline, is_the_slower_of_both_roofs) {
  Cost cost;
  cost.bytes_unique = 100;
  cost.flops = 1000;
  EXPECT_DOUBLE_EQ(roofline_s(cost, {.read_bytes_per_s = 10, .flop_per_s = 1000}), 10);
  EXPECT_DOUBLE_EQ(roofline_s(cost, {.read_bytes_per_s = 1000, .flop_per_s = 10}), 100);
}

TEST(Exceeds, begins_two_percent_above_the_ceiling) {
  EXPECT_FALSE(exceeds(1000, 1000, 1.0));
  EXPECT_FALSE(exceeds(1000, 1000, 0.985));
  EXPECT_TRUE(exceeds(1000, 1000, 0.975));
  EXPECT_FALSE(exceeds(1000, 0, 0.001));  // no ceiling, no claim
  EXPECT_TRUE(exceeds(1, 1000, 0));
}

TEST(CeilingsOfBackend, double_where_a_gpu_multiplies_in_fp8) {
  const Ceilings measured{.read_bytes_per_s = 10, .flop_per_s = 1000};
  const auto flops = [&](DeviceKind kind, const Numerics& numerics) {
    const Numerics steps[] = {{}, numerics};
    const Ceilings ceilings = ceilings_of_backend(measured, kind, steps);
    EXPECT_EQ(ceilings.read_bytes_per_s, 10);
    return ceilings.flop_per_s;
  };
  const Numerics bf16{.qk_input = DType::kBF16, .p = DType::kBF16};
  const Numerics fp8{.qk_input = DType::kE4M3, .p = DType::kE4M3};
  EXPECT_EQ(flops(DeviceKind::kCuda, bf16), 1000);
  EXPECT_EQ(flops(DeviceKind::kCuda, fp8), 2000);
  EXPECT_EQ(flops(DeviceKind::kCuda, {.p = DType::kE5M2}), 2000);
  EXPECT_EQ(flops(DeviceKind::kCpu, fp8), 1000) << "no processor here multiplies fp8";
}

/// Pairs and keys counted one by one through the reference's masks, which share no code with Cost.
void expect_matches_enumeration(const Case& c) {
  const int groups = c.layer.selection_groups();
  const int readers = std::min(groups, c.layer.heads_kv);  // of rows of their own
  std::int64_t pairs = 0, streamed = 0;
  std::set<std::tuple<int, std::int64_t, std::int64_t, int>> unique;  // (kind, owner, key, group)
  for (std::size_t i = 0; i < c.requests.size(); ++i) {
    const Request& r = c.requests[i];
    const std::int64_t page = c.kv_cache.page_size;
    std::set<std::pair<std::int64_t, int>> seen;
    for (std::int64_t token = 0; token < r.q_len; ++token) {
      for (int group = 0; group < groups; ++group) {
        reference::keys_seen_by(c.layer, r, token, group * c.layer.heads_q / groups)
            .for_each_in(0, c.layer.cached_keys(r.kv_len), [&](reference::VisibleKeys::Key key) {
              seen.emplace(key.index, group * readers / groups);
              ++pairs;
            });
      }
    }
    streamed += static_cast<std::int64_t>(seen.size());
    for (const auto& [key, group] : seen) {
      const bool shared = r.shared_prefix >= 0 && key < r.shared_len / page * page;
      // A shared page is known by the prefix that its last token belongs to.
      int owner = r.shared_prefix;
      const std::int64_t last = key / page * page + page - 1;
      while (shared && c.prefixes[static_cast<std::size_t>(owner)].parent >= 0 &&
             last < c.prefixes[static_cast<std::size_t>(
                                   c.prefixes[static_cast<std::size_t>(owner)].parent)]
                        .length) {
        owner = c.prefixes[static_cast<std::size_t>(owner)].parent;
      }
      unique.emplace(shared ? 0 : 1, shared ? owner : static_cast<std::int64_t>(i), key, group);
    }
  }
  const Cost cost = count_cost(c);
  const bool latent = c.layer.family == Family::kLatent;
  const std::int64_t per_row = (c.layer.heads_kv / readers) *
                               (c.layer.head_dim_qk + (latent ? 0 : c.layer.head_dim_v)) *
                               size_bytes(c.kv_cache.dtype);
  EXPECT_EQ(cost.visible_pairs, (pairs + groups - 1) / groups) << c.id;
  EXPECT_EQ(cost.flops,
            2 * c.layer.heads_q / groups * (c.layer.head_dim_qk + c.layer.head_dim_v) * pairs)
      << c.id;
  EXPECT_EQ(cost.kv_bytes_streamed, streamed * per_row) << c.id;
  EXPECT_EQ(cost.kv_bytes_unique, static_cast<std::int64_t>(unique.size()) * per_row) << c.id;
}

TEST(Cost, matches_enumeration_on_every_small_case) {
  for (const Case& c : all_small_cases()) expect_matches_enumeration(c);
  for (const Case& c : small_windows()) expect_matches_enumeration(c);
  for (const Case& c : small_blocks()) expect_matches_enumeration(c);
  for (const Case& c : small_dual_chunks()) expect_matches_enumeration(c);
  expect_matches_enumeration(small_items());
  for (const Case& c : small_selections()) expect_matches_enumeration(c);
  for (const Case& c : small_compressed()) expect_matches_enumeration(c);
  for (const Case& c : small_spans()) expect_matches_enumeration(c);
  for (const Case& c : small_edge_shapes()) expect_matches_enumeration(c);
  for (const Case& c : small_ragged_cases()) expect_matches_enumeration(c);
}

TEST(Cost, of_weighed_pages_counts_their_scores_and_the_window_s_keys) {
  Case c = batch_of(1, 1, 1024);
  c.kv_cache.page_size = 16;
  c.layer.selection = {.topk = 4,
                       .unit = 16,
                       .groups = SelectionGroups::kKvHeads,
                       .pattern = SelectionPattern::kRecent,
                       .window = 40,
                       .fuses_window = true,
                       .softmax = SelectionSoftmax::kUnits};
  const Cost weighed = count_cost(c);
  EXPECT_EQ(weighed.visible_pairs, 4 * 16 + 40);
  EXPECT_EQ(weighed.kv_bytes_unique, (4 * 16 + 40) * 8 * (128 + 128) * 2);
  c.layer.selection.softmax = SelectionSoftmax::kKeys;
  const Cost plain = count_cost(c);
  EXPECT_EQ(plain.flops, weighed.flops);
  EXPECT_EQ(weighed.bytes_unique - plain.bytes_unique, 8 * 4 * 4) << "a score of each entry";
  c.layer.selection.window_heads = 2;
  c.layer.selection.fuses_window = false;
  EXPECT_EQ(count_cost(c).kv_bytes_unique, (6 * 4 * 16 + 2 * 40) * (128 + 128) * 2);
}

// Two queries of one request, which see 100 and 101 keys, and 6 of them are chosen for each.
TEST(Cost, of_chosen_keys_counts_their_rows_their_pages_and_the_lists) {
  Case c = batch_of(1, 2, 1);
  c.mode = ForwardMode::kExtend;
  c.kv_cache.page_size = 16;
  c.requests[0].q_len = 2;
  c.requests[0].kv_len = 101;
  const Cost dense = count_cost(c);
  c.layer.selection = {.topk = 6, .pattern = SelectionPattern::kRecent};
  const Cost chosen = count_cost(c);
  EXPECT_EQ(chosen.visible_pairs, 2 * 6);
  EXPECT_EQ(chosen.flops, dense.flops / dense.visible_pairs * 12);
  // Keys 0, 1, 2 and 97 to 100: the first keys take half of a list at the most.
  EXPECT_EQ(chosen.kv_bytes_unique, dense.kv_bytes_unique / 101 * 7);
  const std::int64_t pages_left_out = 5, lists = 2 * 7;
  EXPECT_EQ(chosen.bytes_unique - chosen.kv_bytes_unique,
            dense.bytes_unique - dense.kv_bytes_unique + 4 * (lists - pages_left_out));
}

// A decode of DeepSeek-V4 at position 4095: 128 tokens of the window and 32 rows, or 512 of 1024.
TEST(Cost, of_compressed_rows_counts_them_beside_the_window) {
  Case c = batch_of(1, 1, 4096);
  c.layer.family = Family::kLatent;
  c.layer.heads_kv = 1;
  c.layer.head_dim_qk = c.layer.head_dim_v = 512;
  c.layer.sliding_window_size = 127;
  c.layer.compress_ratio = 128;
  c.kv_cache.page_size = 64;
  const Cost all = count_cost(c);
  EXPECT_EQ(all.visible_pairs, 160);
  EXPECT_EQ(all.kv_bytes_unique, 160 * 512 * 2);
  c.layer.compress_ratio = 4;
  c.layer.selection = {
      .topk = 512, .unit = 4, .pattern = SelectionPattern::kRecent, .compressed = true};
  const Cost chosen = count_cost(c);
  EXPECT_EQ(chosen.visible_pairs, 640);
  EXPECT_EQ(chosen.kv_bytes_unique, 640 * 512 * 2);
  // 2 pages of the window, beside 1 of 32 rows, and 9 of the first and the latest 511 rows.
  EXPECT_EQ(chosen.bytes_unique - chosen.kv_bytes_unique,
            all.bytes_unique - all.kv_bytes_unique + 4 * (512 + 1) + 4 * (9 - 1));
}

TEST(Cost, of_a_kv_write_counts_tokens_that_have_a_key) {
  Case c = batch_of(1, 1, 1);
  c.mode = ForwardMode::kExtend;
  c.step = StepPart::kKvWrite;
  c.requests[0].q_len = c.requests[0].kv_len = 4;
  const Cost four = count_cost(c);
  c.requests[0].q_len = 9;
  EXPECT_EQ(count_cost(c).bytes_unique, four.bytes_unique);
  EXPECT_EQ(count_cost(c).kv_bytes_written, four.kv_bytes_written);
  c.requests[0].kv_len = 0;
  EXPECT_EQ(count_cost(c).kv_bytes_written, 0);
}

TEST(Cost, matches_enumeration_on_random_cases) {
  std::mt19937_64 random(5);
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1));
  };
  for (int round = 0; round < 400; ++round) {
    Case c = batch_of(static_cast<int>(draw(1, 5)), 1, 1);
    c.id = "round " + std::to_string(round);
    c.kv_cache.page_size = std::int64_t{1} << draw(0, 3);
    c.layer.sliding_window_size = draw(0, 1) == 0 ? -1 : draw(0, 30);
    c.layer.window_in_trees = draw(0, 1) == 0 ? WindowInTrees::kIndex : WindowInTrees::kDepth;
    c.layer.causal = draw(0, 5) != 0;
    c.layer.is_cross_attention = draw(0, 5) == 0;
    c.prefixes = {{"a", draw(1, 30)}, {"b", draw(1, 30)}};
    if (draw(0, 1) == 0) {
      c.prefixes[1] = {"b", c.prefixes[0].length + draw(1, 30), 0};
      c.prefixes.push_back({"c", c.prefixes[0].length + draw(1, 30), 0});
      c.prefixes.push_back({"d", c.prefixes[1].length + draw(1, 30), 1});
    }
    const bool tree = draw(0, 2) == 0;
    if (tree) c.layer.causal = true;  // the scenario language refuses the other
    if (draw(0, 2) == 0) {
      c.layer.attention_chunk = draw(1, 30);
      c.layer.causal = true;
      c.layer.is_cross_attention = false;
    }
    const bool blocks = !tree && c.layer.causal && c.layer.attention_chunk == 0 && draw(0, 1) == 0;
    if (blocks) c.layer.causal_block = draw(2, 12);
    const std::int64_t nodes = draw(1, 8);
    for (Request& r : c.requests) {
      r.shared_prefix = static_cast<int>(draw(-1, std::ssize(c.prefixes) - 1));
      if (r.shared_prefix >= 0) {
        r.shared_len = c.prefixes[static_cast<std::size_t>(r.shared_prefix)].length;
      }
      r.q_len = tree ? nodes : draw(1, 20);
      r.kv_len = r.shared_len + r.q_len + draw(0, 40);
      // Queries may outnumber keys, but then nothing is shared.
      if (!tree && !blocks && r.shared_prefix < 0 && draw(0, 4) == 0) r.kv_len = draw(1, r.q_len);
      for (std::int64_t node = 0; tree && node < nodes; ++node) {
        r.tree_parents.push_back(node == 0 ? -1 : static_cast<int>(draw(0, node - 1)));
      }
    }
    expect_matches_enumeration(c);
    if (HasFailure()) break;
  }
}

TEST(Cost, of_a_gated_delta_net_counts_states_once_in_and_once_out) {
  Case c;
  c.layer = {.family = Family::kGatedDeltaNet,
             .heads_q = 2,
             .heads_kv = 4,
             .head_dim_qk = 8,
             .head_dim_v = 16,
             .scale = 0.35};
  c.dtype = DType::kBF16;
  c.mode = ForwardMode::kExtend;
  c.requests = {{.q_len = 3, .kv_len = 3}, {.q_len = 2, .kv_len = 100}};
  const Cost cost = count_cost(c);
  EXPECT_EQ(cost.flops, 7 * 4 * 8 * 16 * 5);
  EXPECT_EQ(cost.kv_bytes_unique, 3 * 4 * 8 * 16 * 4);  // one read, two written
  const std::int64_t token = 2 * (2 * 2 * 8 + 2 * 4 * 16) + 2 * 4 * 4;
  EXPECT_EQ(cost.bytes_unique, cost.kv_bytes_unique + 5 * token + 2 * 4);
  EXPECT_EQ(cost.bytes_streamed, cost.bytes_unique);
  c.requests[1].kv_len = 100000;
  EXPECT_EQ(count_cost(c).bytes_unique, cost.bytes_unique) << "a longer past costs nothing";
  c.requests.push_back({.q_len = 0, .kv_len = 100});
  EXPECT_EQ(count_cost(c).kv_bytes_unique, cost.kv_bytes_unique) << "nor does a state left alone";
}

TEST(Cost, of_a_draft_on_a_gated_delta_net_counts_a_state_written_for_each_token) {
  Case c;
  c.layer = {.family = Family::kGatedDeltaNet,
             .heads_q = 2,
             .heads_kv = 4,
             .head_dim_qk = 8,
             .head_dim_v = 16,
             .scale = 0.35};
  c.mode = ForwardMode::kTargetVerify;
  c.requests = {{.q_len = 4, .kv_len = 4}, {.q_len = 4, .kv_len = 100}};
  const Cost cost = count_cost(c);
  EXPECT_EQ(cost.flops, 7 * 4 * 8 * 16 * 8);
  EXPECT_EQ(cost.kv_bytes_unique, (1 + 8) * 4 * 8 * 16 * 4);  // one read, eight written
  Case tree = c;
  for (Request& request : c.requests) request.tree_parents = {-1, 0, 1, 2};
  for (Request& request : tree.requests) request.tree_parents = {-1, 0, 0, 0};
  EXPECT_EQ(count_cost(tree).flops, count_cost(c).flops);
  EXPECT_EQ(count_cost(tree).bytes_unique, count_cost(c).bytes_unique)
      << "states that siblings go on from can stay where they are computed";
  EXPECT_EQ(count_cost(tree).bytes_streamed, count_cost(c).bytes_streamed);
}

}  // namespace
}  // namespace attnbench
