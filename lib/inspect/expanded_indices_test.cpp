// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/expanded_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "lib/inspect/expand_report.h"
#include "lib/inspect/testing/indices_of.h"
#include "lib/layout/lay_out.h"
#include "lib/scenario/testing/small_cases.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Values = std::vector<std::int64_t>;

Case small_chunked_layers() {
  Case c = small_prefix_hits();
  c.layer.attention_chunk = 16;
  return c;
}

Case small_chain() {
  Case c = small_mla();
  c.mode = ForwardMode::kTargetVerify;
  for (Request& request : c.requests) {
    request.q_len = 2;
    request.kv_len += 1;
    request.tree_parents = {-1, 0};
  }
  return c;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases = all_small_cases();
  for (Case& c : small_edge_shapes()) cases.push_back(std::move(c));
  for (const auto& more : {small_windows(), small_temperatures(), small_slopes(),
                           small_dual_chunks(), small_swa_pools(), small_ragged_cases()}) {
    cases.insert(cases.end(), more.begin(), more.end());
  }
  cases.insert(cases.end(), {small_idle(), small_chunked_layers(), small_chain(), small_items()});
  return cases;
}

TEST(IndexFormats, each_apply_to_some_case_and_say_in_a_sentence_why_not_to_another) {
  std::set<std::string_view> names, applied, refused;
  for (const IndexFormat& format : index_formats()) {
    EXPECT_TRUE(names.insert(format.name).second) << format.name;
    for (const Case& c : all_cases()) {
      const BuiltIndices built = indices_of(format.name, c);
      EXPECT_NE(built.arrays.empty(), built.why_not.empty()) << format.name << " of " << c.id;
      (built.why_not.empty() ? applied : refused).insert(format.name);
    }
  }
  EXPECT_EQ(applied, names);
  for (const char* always : {"req_to_token", "csr", "page_table", "varlen", "block_table"}) {
    EXPECT_TRUE(refused.insert(always).second) << always;
  }
  EXPECT_EQ(refused, names);
}

TEST(IndexFormats, have_as_many_values_as_their_shapes_say) {
  for (const Case& c : all_cases()) {
    for (const IndexFormat& format : index_formats()) {
      for (const IndexArray& array : indices_of(format.name, c).arrays) {
        const std::int64_t size = std::accumulate(array.shape.begin(), array.shape.end(),
                                                  std::int64_t{1}, std::multiplies<>());
        EXPECT_EQ(std::ssize(array.widened()), size) << c.id << " " << array.name;
      }
    }
  }
}

/// Sums from 0 on that never fall.
bool are_sums(const Values& values) {
  return !values.empty() && values.front() == 0 && std::ranges::is_sorted(values);
}

bool all_in(const Values& values, std::int64_t low, std::int64_t end) {
  return std::ranges::all_of(values, [&](std::int64_t v) { return v >= low && v < end; });
}

// What a kernel would read out of bounds by, or give NaN for.
TEST(IndexFormats, lead_into_the_pool_and_hold_sums_that_never_fall) {
  std::set<std::string> sums, slots, pages, tables;
  for (const Case& c : all_cases()) {
    if (c.layer.is_recurrent()) continue;
    const std::int64_t num_pages = lay_out(c).num_pages, page_size = c.kv_cache.page_size;
    const auto requests = std::ssize(c.requests) + c.padding.requests;
    for (const IndexFormat& format : index_formats()) {
      const BuiltIndices built = indices_of(format.name, c);
      for (const IndexArray& array : built.arrays) {
        const std::string name = array.name;
        const Values values = array.widened();
        SCOPED_TRACE(c.id + " " + std::string(format.name) + " " + name);
        if (name.ends_with("indptr") || name.starts_with("cu_seqlens") ||
            name.ends_with("query_start_loc")) {
          sums.insert(name);
          EXPECT_TRUE(are_sums(values));
          if (format.name == "csr") {
            EXPECT_EQ(std::ssize(values), requests + 1);
          }
        } else if (name == "slot_mapping" || name == "out_cache_loc" ||
                   name == "window_kv_indices" ||
                   (name == "kv_indices" && format.name == "csr_prefix")) {
          slots.insert(name);
          EXPECT_TRUE(all_in(values, 0, num_pages * page_size));
        } else if (name == "kv_indices") {
          pages.insert(name);
          EXPECT_TRUE(all_in(values, 0, num_pages));
          EXPECT_EQ(std::ssize(values), values_of(built, "kv_indptr").back());
        } else if (name == "kv_last_page_len") {
          pages.insert(name);
          EXPECT_TRUE(all_in(values, 1, page_size + 1));
          const Values indptr = values_of(built, "kv_indptr");
          for (std::size_t r = 0; r < c.requests.size(); ++r) {
            const std::int64_t held = indptr[r + 1] - indptr[r];
            const std::int64_t length = held == 0 ? 0 : page_size * (held - 1) + values[r];
            EXPECT_EQ(length, c.requests[r].kv_len) << "request " << r;
          }
        } else if (name.ends_with("_table")) {
          tables.insert(name);
          EXPECT_TRUE(
              all_in(values, -1, format.name == "draft_table" ? num_pages * page_size : num_pages));
        } else if (name == "custom_mask" && format.name == "tree_mask") {
          EXPECT_EQ(std::ssize(values), values_of(built, "mask_indptr").back());
        }
      }
    }
  }
  EXPECT_THAT(
      sums, testing::IsSupersetOf({"kv_indptr", "qo_indptr", "window_kv_indptr", "cu_seqlens_q",
                                   "local_query_start_loc", "mask_indptr", "packed_mask_indptr"}));
  EXPECT_THAT(slots,
              ElementsAre("kv_indices", "out_cache_loc", "slot_mapping", "window_kv_indices"));
  EXPECT_THAT(pages, ElementsAre("kv_indices", "kv_last_page_len"));
  EXPECT_THAT(tables, testing::IsSupersetOf(
                          {"page_table", "block_table", "swa_page_table", "local_block_table"}));
}

// vLLM's rule: block_table[position / block_size] * block_size + position % block_size. Places
// among the keys stand for positions, which the siblings of a draft tree share.
TEST(IndexFormats, give_new_keys_the_slots_that_follow_from_the_block_table) {
  for (const Case& c : all_cases()) {
    const bool cross = c.layer.is_cross_attention;
    const IndexArray table = array_of(indices_of("block_table", c), "block_table");
    const Values blocks = table.widened();
    Values slots;
    for (std::size_t r = 0; r < c.requests.size(); ++r) {
      const Request& request = c.requests[r];
      if (cross && request.encoder_cached) continue;
      const std::int64_t first = cross ? 0 : request.prefix_len();  // a new encoder is new whole
      for (std::int64_t place = first; place < request.kv_len; ++place) {
        if (place < 0) {  // a query before key 0 goes to the dummy slot
          slots.push_back(0);
          continue;
        }
        const std::int64_t block = place / c.kv_cache.page_size;
        const std::int64_t entry = static_cast<std::int64_t>(r) * table.shape[1] + block;
        slots.push_back(blocks[static_cast<std::size_t>(entry)] * c.kv_cache.page_size +
                        place % c.kv_cache.page_size);
      }
    }
    if (!cross) slots.resize(slots.size() + static_cast<std::size_t>(c.padding_q_tokens()), 0);
    const BuiltIndices built = indices_of("slot_mapping", c);
    if (slots.empty() && cross) continue;
    EXPECT_EQ(values_of(built, "slot_mapping"), slots) << c.id;
  }
  Case cached = small_cross();
  for (Request& request : cached.requests) request.encoder_cached = true;
  EXPECT_EQ(indices_of("slot_mapping", cached).why_not, "no encoder's keys are new");
}

TEST(IndexFormats, of_draft_trees_are_none_over_an_encoder_s_keys) {
  for (const char* format : {"tree_mask", "draft_table"}) {
    EXPECT_EQ(indices_of(format, small_cross_trees()).why_not,
              "a draft tree is of the decoder's own keys: each node sees all of the encoder's");
  }
}

TEST(IndexFormats, list_the_same_pages_in_rows_and_one_after_another) {
  const BuiltIndices csr = indices_of("csr", small_prefix_hits());
  const IndexArray table = array_of(indices_of("page_table", small_prefix_hits()), "page_table");
  Values rows = table.widened();
  std::erase(rows, -1);
  EXPECT_EQ(values_of(csr, "kv_indices"), rows);
  EXPECT_EQ(values_of(csr, "kv_indptr").back(), std::ssize(rows));
  EXPECT_EQ(table.dtype(), "int32");
}

TEST(IndexFormats, leave_new_tokens_out_of_the_prefix) {
  const Case c = small_prefix_hits();
  const auto built = indices_of("csr_prefix", c);
  EXPECT_EQ(values_of(built, "kv_indptr").back(), c.kv_tokens() - c.q_tokens());
}

TEST(IndexFormats, reach_back_as_far_as_the_window) {
  const Case c = small_sliding_window();
  const BuiltIndices built = indices_of("csr_window", c);
  const Values& indptr = values_of(built, "window_kv_indptr");
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    const Request& request = c.requests[r];
    EXPECT_EQ(indptr[r + 1] - indptr[r],
              std::min(request.kv_len, c.layer.sliding_window_size + request.q_len));
  }
}

TEST(IndexFormats, translate_the_window_s_slots_into_a_pool_of_their_own) {
  const Case c = small_sliding_window();
  const BuiltIndices built = indices_of("swa", c);
  const Values& mapping = values_of(built, "full_to_swa_index_mapping");
  EXPECT_EQ(mapping.back(), -1);
  const Values written = lay_out(c).batch.out_cache_loc;
  for (std::size_t t = 0; t < written.size(); ++t) {
    const std::int64_t slot = values_of(built, "swa_out_cache_loc")[t];
    EXPECT_EQ(slot, mapping[static_cast<std::size_t>(written[t])]);
    EXPECT_GT(slot, 0);
  }
  // Something has left the window: its page is the dummy.
  EXPECT_THAT(values_of(built, "swa_page_table"), testing::Contains(0));
  EXPECT_THAT(values_of(indices_of("swa", small_chunked_layers()), "swa_page_table"),
              testing::Contains(0));
}

TEST(IndexFormats, say_where_the_ragged_keys_of_a_request_begin) {
  for (const Case& c : small_ragged_cases()) {
    const Values starts = values_of(indices_of("varlen", c), "cu_seqlens_k");
    const Values rows = values_of(indices_of("csr", c), "kv_indices");
    ASSERT_EQ(starts.back(), std::ssize(rows)) << c.id;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      ASSERT_EQ(rows[row], static_cast<std::int64_t>(row)) << c.id;
    }
  }
  Case c = small_sliding_window();
  c.kv_cache.layout = KvLayout::kRagged;
  c.kv_cache.page_size = 1;
  EXPECT_EQ(indices_of("swa", c).why_not, "ragged keys lie in no pool");
}

TEST(IndexFormats, cut_requests_of_chunked_layers_into_their_chunks) {
  const Case c = small_chunked_layers();
  const BuiltIndices built = indices_of("local_attention", c);
  EXPECT_EQ(values_of(built, "local_query_start_loc").back(), c.q_tokens());
  EXPECT_THAT(values_of(built, "local_seqused_k"), Each(testing::Le(16)));
  EXPECT_EQ(indices_of("local_attention", small_prefix_hits()).why_not, "the layer is not chunked");
  Case odd = c;
  odd.layer.attention_chunk = 24;
  EXPECT_EQ(indices_of("local_attention", odd).why_not,
            "a chunk of 24 tokens is no whole number of pages of 16");
}

TEST(IndexFormats, of_latent_caches_want_a_kernel_s_page_size_and_no_branches) {
  const Case c = small_mla();
  const BuiltIndices flashmla = indices_of("flashmla", c);
  EXPECT_EQ(array_of(flashmla, "tile_scheduler_metadata").shape.back(), 8);
  EXPECT_EQ(array_of(flashmla, "num_splits").shape.front(), std::ssize(c.requests) + 1);
  EXPECT_EQ(array_of(indices_of("trtllm_mla", c), "block_tables").shape.back() % 64, 0);
  EXPECT_EQ(indices_of("flashmla", small_chain()).why_not, "");

  Case small_pages = c;
  small_pages.kv_cache.page_size = 16;
  EXPECT_EQ(indices_of("flashmla", small_pages).why_not, "FlashMLA reads pages of 64 tokens");
  EXPECT_EQ(indices_of("trtllm_mla", small_pages).why_not,
            "TRT-LLM MLA reads pages of 32 or 64 tokens");
  Case tree = small_chain();
  for (Request& request : tree.requests) {
    request.q_len = 3;
    request.kv_len += 1;
    request.tree_parents = {-1, 0, 0};
  }
  EXPECT_EQ(indices_of("flashmla", tree).why_not,
            "its kernel verifies chains, not trees that branch");
}

TEST(IndexFormats, of_trtllm_mla_are_padded_to_what_kernel_and_builder_divide) {
  for (const auto& [page_size, width] : {std::pair{32, 128}, std::pair{64, 64}}) {
    Case c = small_mla();  // up to 129 keys: 5 pages of 32, 3 of 64
    c.kv_cache.page_size = page_size;
    const BuiltIndices built = indices_of("trtllm_mla", c);
    EXPECT_EQ(array_of(built, "block_tables").shape.back(), width);
    const std::vector<std::int64_t> table = values_of(built, "block_tables");
    ASSERT_EQ(std::ssize(table), std::ssize(c.requests) * width);
    // The last request's pages, then the mark of entries that must not be read.
    const std::int64_t pages = (129 + page_size - 1) / page_size;
    for (std::int64_t i = 0; i < width; ++i) {
      const std::int64_t entry = table[table.size() - static_cast<std::size_t>(width - i)];
      EXPECT_EQ(entry < 0, i >= pages) << "pages of " << page_size << ", entry " << i;
    }
  }
}

TEST(IndexFormats, split_the_keys_of_a_decode_by_each_rule) {
  Case c = small_plain_decode();
  c.layer.heads_q = 32;
  c.layer.heads_kv = 8;
  c.requests.resize(2);
  c.requests[0].kv_len = 1000;
  c.requests[1].kv_len = 4000;
  const BuiltIndices built = indices_of("kv_splits", c);
  EXPECT_THAT(values_of(built, "num_kv_splits"), ElementsAre(2, 8));
  EXPECT_THAT(values_of(built, "num_kv_splits_deterministic"), ElementsAre(4, 16));
  EXPECT_THAT(values_of(built, "num_kv_splits_as_described"), ElementsAre(2, 8));
  // 8 blocks and 25 tiles of 160 keys; and pieces of 3 of the 32 tiles.
  EXPECT_TRUE(array_of(built, "fa3_num_splits").is_number());
  EXPECT_THAT(values_of(built, "fa3_num_splits"), ElementsAre(14));
  EXPECT_THAT(values_of(built, "fa3_num_splits_dynamic"), ElementsAre(3, 9));
  c.kv_cache.page_size = 16;
  c.requests[0].kv_len = 1000 * 16;
  c.requests[1].kv_len = 4000 * 16;
  const BuiltIndices paged = indices_of("kv_splits", c);
  EXPECT_TRUE(array_of(paged, "flashinfer_chunk_pages").is_number());
  EXPECT_THAT(values_of(paged, "flashinfer_chunk_pages"), ElementsAre(154));
  c.layer.sliding_window_size = 250 * 16 - 16;  // 16 of the 33 chunks for each request
  EXPECT_THAT(values_of(indices_of("kv_splits", c), "flashinfer_chunk_pages"), ElementsAre(16));
  // SGLang lets absorbed MLA have min(256, 256) pieces on 132 multiprocessors: with 16 heads, one
  // block of heads, it makes 132 x log2(8192 / 64) = 924 blocks in as many.
  Case latent = small_mla();
  latent.layer.heads_q = 16;
  latent.requests.resize(1);
  latent.requests[0].kv_len = 8192;
  EXPECT_THAT(values_of(indices_of("kv_splits", latent), "num_kv_splits"), ElementsAre(256));
  for (const IndexArray& array : indices_of("kv_splits", small_mla()).arrays) {
    EXPECT_STRNE(array.name, "flashinfer_chunk_pages");
  }
  c.layer.head_dim_qk = 264;
  for (const IndexArray& array : indices_of("kv_splits", c).arrays) {
    EXPECT_STRNE(array.name, "fa3_num_splits");
  }
}

TEST(IndexFormats, describe_a_draft_tree_in_every_form_of_its_mask) {
  const Case c = small_tree_verify();
  const BuiltIndices mask = indices_of("tree_mask", c);
  const std::int64_t nodes = c.requests[0].q_len;
  EXPECT_EQ(array_of(mask, "qlen_only_bitpacking").shape,
            (Values{std::ssize(c.requests) * nodes, 1}));
  EXPECT_EQ(values_of(mask, "packed_mask_indptr").back(),
            std::ssize(values_of(mask, "packed_custom_mask")));
  const BuiltIndices table = indices_of("draft_table", c);
  EXPECT_EQ(array_of(table, "page_table").shape, (Values{std::ssize(c.requests) * nodes, nodes}));
  EXPECT_EQ(values_of(table, "cache_seqlens")[0], 1);
}

TEST(IndexFormats, show_a_tree_among_its_nodes_as_bytes_and_as_bits) {
  // Request 0: children 1, 2, 3 of the root, 4 and 5 of node 1.
  const BuiltIndices mask = indices_of("tree_mask", small_tree_verify());
  Values bytes = values_of(mask, "qlen_only"), bits = values_of(mask, "qlen_only_bitpacking");
  EXPECT_EQ(array_of(mask, "qlen_only").shape, (Values{6 * 6, 6}));
  bytes.resize(36);
  bits.resize(6);
  EXPECT_EQ(bytes, (Values{1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0,
                           1, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 1}));
  EXPECT_EQ(bits, (Values{1, 3, 5, 9, 19, 35}));
}

TEST(IndexFormats, cut_a_step_in_two_halves) {
  const BuiltIndices decode = indices_of("tbo", small_plain_decode());  // five requests
  EXPECT_EQ(values_of(decode, "tbo_split_seq_index"), (Values{2}));
  EXPECT_EQ(values_of(decode, "tbo_split_token_index"), (Values{2}));
  const BuiltIndices trees = indices_of("tbo", small_tree_verify());  // six of six nodes
  EXPECT_EQ(values_of(trees, "tbo_split_token_index"), (Values{18}));
  const BuiltIndices mixed = indices_of("tbo", small_chunked_mixed());  // 33, then six of one
  EXPECT_EQ(values_of(mixed, "tbo_split_seq_index"), (Values{0}));
  EXPECT_EQ(values_of(mixed, "tbo_split_token_index"), (Values{19}));
}

TEST(IndexFormats, cut_a_step_of_one_request_or_none_and_no_slice_of_a_prompt) {
  const auto split = [](ForwardMode mode, std::vector<Request> requests) {
    Case c = small_plain_decode();
    c.mode = mode;
    c.requests = std::move(requests);
    return indices_of("tbo", c);
  };
  const Request prompt{.group = "prompt", .q_len = 400, .kv_len = 400};
  const BuiltIndices alone = split(ForwardMode::kExtend, {prompt});
  EXPECT_EQ(values_of(alone, "tbo_split_seq_index"), (Values{0}));
  EXPECT_EQ(values_of(alone, "tbo_split_token_index"), (Values{200}));
  EXPECT_EQ(values_of(split(ForwardMode::kIdle, {}), "tbo_split_token_index"), (Values{0}));
  EXPECT_EQ(split(ForwardMode::kSplitPrefill, {prompt}).why_not,
            "SGLang's rule knows extend, mixed, decode, target_verify and idle steps only");
}

TEST(IndexFormats, of_a_tree_beyond_32_nodes_have_no_bit_packed_rows) {
  Case c = small_tree_verify();
  for (Request& request : c.requests) {
    request.kv_len += 33 - request.q_len;
    request.q_len = 33;
    request.tree_parents.resize(33);
    std::iota(request.tree_parents.begin(), request.tree_parents.end(), -1);
  }
  const BuiltIndices built = indices_of("tree_mask", c);
  EXPECT_TRUE(std::ranges::none_of(built.arrays, [](const IndexArray& array) {
    return std::string_view(array.name) == "qlen_only_bitpacking";
  }));
  EXPECT_EQ(array_of(built, "retrive_index").shape, (Values{std::ssize(c.requests) * 33}));
}

TEST(IndexFormats, fill_a_batch_up_to_a_captured_size) {
  Case c = small_plain_decode();
  for (const auto& [requests, captured] :
       std::map<std::size_t, std::size_t>{{1, 1}, {3, 4}, {5, 8}, {9, 16}}) {
    c.requests.resize(requests, c.requests.front());
    const BuiltIndices built = indices_of("graph_padding", c);
    const Values& rows = values_of(built, "req_pool_indices");
    ASSERT_EQ(rows.size(), captured);
    EXPECT_EQ(std::ranges::count(rows, 0), std::ssize(rows) - std::ssize(c.requests));
    // SGLang's get_cuda_graph_seq_len_fill_value: a length of 0 would divide 0 by 0 in Triton.
    for (std::size_t r = requests; r < captured; ++r) {
      EXPECT_EQ(values_of(built, "seq_lens")[r], 1);
      EXPECT_EQ(values_of(built, "out_cache_loc")[r], 0);
      EXPECT_EQ(values_of(built, "positions")[r], 0);
    }
  }
}

/// Of all formats, on all cases.
struct Written {
  Written() {
    scenario.cases = all_cases();
    std::vector<const Case*> cases;
    for (const Case& c : scenario.cases) cases.push_back(&c);
    std::vector<const IndexFormat*> formats;
    for (const IndexFormat& format : index_formats()) formats.push_back(&format);
    std::ostringstream out;
    write_expand_table(scenario, cases, out, formats);
    table = out.str();
    out.str("");
    write_expand_json(scenario, cases, out, formats);
    json = nlohmann::json::parse(out.str());
  }
  Scenario scenario;
  std::string table;
  nlohmann::json json;
};

TEST(ExpandIndices, fit_100_columns_and_abridge_tables_row_by_row) {
  const Written written;
  std::istringstream lines(written.table);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
  EXPECT_THAT(
      written.table,
      AllOf(
          HasSubstr("\n  indices csr, read by FlashInfer, Triton, aiter\n"
                    "    qo_indptr            int32 ["),
          HasSubstr(
              "\n  indices swa do not apply: the layer has neither a sliding window nor chunks\n"),
          HasSubstr("\n    max_seqlen_q         int "),
          HasSubstr("\n    tile_scheduler_metadata int32 [132, 8]\n      0    0 "),
          HasSubstr("\n      …\n      128 ")));
}

TEST(ExpandIndices, go_on_in_a_second_line_where_slots_are_long_numbers) {
  Case c = small_sliding_window();
  c.kv_cache.page_size = 1 << 16;
  c.kv_cache.pool_tokens = 1 << 26;
  c.kv_cache.placement = Placement::kReversed;
  const IndexFormat* const format = &index_format("csr_window");
  std::ostringstream out;
  write_expand_table({}, {&c}, out, std::span(&format, 1));
  const std::string indices = out.str().substr(out.str().find("\n  indices "));
  EXPECT_THAT(indices, HasSubstr("]\n        67"));
  std::istringstream lines(indices);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
}

TEST(ExpandIndices, are_whole_in_json) {
  const Written written;
  const auto cases = all_cases();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& indices = written.json["cases"][i]["indices"];
    ASSERT_EQ(indices.size(), index_formats().size());
    for (const IndexFormat& format : index_formats()) {
      const auto& found = indices[std::string(format.name)];
      const BuiltIndices built = indices_of(format.name, cases[i]);
      if (!built.why_not.empty()) {
        EXPECT_EQ(found["why_not"], built.why_not);
        continue;
      }
      for (const IndexArray& array : built.arrays) {
        const auto& values = found["arrays"][array.name];
        EXPECT_EQ(values["dtype"], array.dtype());
        EXPECT_EQ(values["shape"], nlohmann::json(array.shape));
        EXPECT_EQ(values["values"], nlohmann::json(array.widened()));
      }
    }
  }
}

TEST(ExpandIndices, stay_away_unless_asked_for) {
  const Scenario scenario;
  const Case c = small_plain_decode();
  std::ostringstream table, json;
  write_expand_table(scenario, {&c}, table);
  write_expand_json(scenario, {&c}, json);
  EXPECT_THAT(table.str(), Not(HasSubstr("\n  indices ")));
  EXPECT_FALSE(nlohmann::json::parse(json.str())["cases"][0].contains("indices"));
}

}  // namespace
}  // namespace attnbench
