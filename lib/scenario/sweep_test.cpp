// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/scenario/scenario.h"
#include "lib/scenario/testing/cases.h"

namespace attnbench {
namespace {

using testing::ElementsAreArray;

Scenario swept(
    const std::string& sweep,
    const std::string& mix = "{batch: [{name: chat, count: 4, mode: decode, kv_len: 1k}]}") {
  return parse_scenario(
      "defaults: {model: llama-3.1-8b}\nmixes:\n  m: " + mix + "\nsweep: " + sweep, "s.yaml");
}

TEST(Sweep, varies_the_last_axis_of_a_grid_fastest) {
  EXPECT_THAT(case_ids(swept("{grid: {tp: [1, 2], kv_cache.page_size: [16, 64]}}")),
              ElementsAreArray({"m/tp1,ps16", "m/tp1,ps64", "m/tp2,ps16", "m/tp2,ps64"}));
}

TEST(Sweep, leaves_its_values_in_each_case_as_the_file_has_them) {
  const Scenario scenario = swept(
      "{grid: {tp: [1, 2], attention.window: [none, {keys: 1k}], \"batch[0].kv_len\": [4k]}}");
  ASSERT_EQ(scenario.cases.size(), 4u);
  EXPECT_EQ(
      scenario.cases[3].sweep,
      (SweptValues{{"tp", "2"}, {"attention.window", "{keys: 1k}"}, {"batch[0].kv_len", "4k"}}));
}

TEST(Sweep, walks_zipped_lists_together) {
  const Scenario scenario =
      swept("{zip: {kv_cache.dtype: [bf16, e4m3], kv_cache.k_scale: [1, 0.5]}}");
  EXPECT_THAT(case_ids(scenario), ElementsAreArray({"m/kv-bf16,k_scale1", "m/kv-e4m3,k_scale0.5"}));
  EXPECT_EQ(scenario.cases[1].kv_cache.k_scale, 0.5f);
}

TEST(Sweep, includes_both_ends_of_a_range) {
  EXPECT_THAT(case_ids(swept("{grid: {batch.chat.count: {range: {start: 8, stop: 24, step: 8}}}}")),
              ElementsAreArray({"m/count8", "m/count16", "m/count24"}));
  EXPECT_THAT(case_ids(swept("{grid: {batch.chat.count: {range: {start: 1, stop: 8, step: 4}}}}")),
              ElementsAreArray({"m/count1", "m/count5"}));
}

TEST(Sweep, doubles_along_log2) {
  EXPECT_THAT(case_ids(swept("{grid: {\"batch[0].kv_len\": {log2: {start: 512, stop: 4k}}}}")),
              ElementsAreArray({"m/kv_len512", "m/kv_len1k", "m/kv_len2k", "m/kv_len4k"}));
}

TEST(Sweep, sets_the_value_in_its_case) {
  const Scenario scenario = swept("{grid: {batch.chat.kv_len: [100, 4k]}}");
  EXPECT_EQ(scenario.cases[0].requests[3].kv_len, 100);
  EXPECT_EQ(scenario.cases[1].requests[3].kv_len, 4096);
}

TEST(Sweep, makes_maps_on_the_way_to_its_key) {
  const Scenario scenario = swept("{grid: {attention.window.keys: [128, 1k]}}");
  EXPECT_THAT(case_ids(scenario), ElementsAreArray({"m/keys128", "m/keys1k"}));
  EXPECT_EQ(scenario.cases[0].layer.sliding_window_size, 127);
}

TEST(Sweep, names_dtypes_and_words_plainly) {
  EXPECT_THAT(case_ids(swept("{grid: {dtype: [f16, bf16]}}")),
              ElementsAreArray({"m/f16", "m/bf16"}));
  EXPECT_THAT(case_ids(swept("{grid: {kv_cache.placement: [shuffled]}}")),
              ElementsAreArray({"m/placement-shuffled"}));
  EXPECT_THAT(case_ids(swept("{grid: {attention.window: [none, {keys: 1024}]}}")),
              ElementsAreArray({"m/window-none", "m/window-keys1024"}));
}

TEST(Sweep, names_maps_within_maps_apart) {
  EXPECT_THAT(
      case_ids(swept("{grid: {\"batch[0].kv_len\": [{uniform: [1, 10]}, {uniform: [1, 100]}, "
                     "{lognormal: {median: 100, sigma: 0.5}, max: 1k}]}}")),
      ElementsAreArray({"m/kv_len-uniform1_10", "m/kv_len-uniform1_100",
                        "m/kv_len-lognormalmedian100_sigma0.5+max1k"}));
  const std::string verify = "{batch: [{mode: target_verify, prefix_len: 9, tree: {chain: 2}}]}";
  EXPECT_THAT(
      case_ids(swept("{grid: {\"batch[0].tree\": [{parents: [-1, 0, 0]}, {parents: [-1, 0, 1]}]}}",
                     verify)),
      ElementsAreArray({"m/tree-parents-1_0_0", "m/tree-parents-1_0_1"}));
}

TEST(Sweep, gives_a_long_value_a_short_id_that_still_differs) {
  const auto id_with_last = [](int last) {
    std::string parents = "-1";
    for (int i = 0; i < 30; ++i) parents += ", 0";
    return case_ids(swept("{grid: {\"batch[0].tree\": [{parents: [" + parents + ", " +
                              std::to_string(last) + "]}]}}",
                          "{batch: [{mode: target_verify, prefix_len: 9, tree: {chain: 2}}]}"))
        .at(0);
  };
  EXPECT_LT(id_with_last(0).size(), 48u);
  EXPECT_NE(id_with_last(0), id_with_last(1));
}

TEST(Sweep, of_page_sizes_goes_over_a_prefix_that_is_no_multiple_of_them) {
  const Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b}\nprefixes: {system: 65}\nmixes:\n"
      "  m: {batch: [{mode: extend, prefix: system, q_len: 300}]}\n"
      "sweep: {grid: {kv_cache.page_size: [1, 16, 64, 128]}}\n",
      "s.yaml");
  std::vector<std::int64_t> q_lens, prefix_lens;
  for (const Case& c : scenario.cases) {
    q_lens.push_back(c.requests.at(0).q_len);
    prefix_lens.push_back(c.requests.at(0).prefix_len());
    EXPECT_EQ(c.requests[0].kv_len, 365);
  }
  EXPECT_THAT(prefix_lens, ElementsAreArray({65, 64, 64, 0}));
  EXPECT_THAT(q_lens, ElementsAreArray({300, 301, 301, 365}));
}

TEST(Sweep, sweeps_whole_batch_strings) {
  const Scenario scenario = swept("{grid: {batch: [1q1s1k, 8q1s1k]}}");
  EXPECT_THAT(case_ids(scenario), ElementsAreArray({"m/batch-1q1s1k", "m/batch-8q1s1k"}));
  EXPECT_EQ(scenario.cases[1].requests.size(), 8u);
}

TEST(Sweep, along_an_axis_makes_one_case_for_each_of_its_values) {
  const std::string text =
      "defaults: {model: llama-3.1-8b}\nmixes:\n"
      "  m: {batch: [{count: 4, mode: decode, kv_len: 1k}]}\n  other: {batch: q1s8}\n"
      "sweep: {grid: {tp: [1, 2], kv_cache.page_size: [16, 64]}}";
  const auto along = [&](const std::string& id, const std::string& path) {
    return parse_scenario(text, "s.yaml", std::nullopt, CaseAxis{id, path, {128, 3072}});
  };
  const Scenario lengths = along("m/tp2,ps16", "batch[0].kv_len");
  EXPECT_THAT(case_ids(lengths), ElementsAreArray({"m/tp2,ps16,kv_len128", "m/tp2,ps16,kv_len3k"}));
  EXPECT_EQ(lengths.cases[1].requests[0].kv_len, 3072);
  EXPECT_EQ(lengths.cases[1].layer.heads_q, 16) << "llama's 32, of two ranks";
  EXPECT_THAT(case_ids(along("m/tp2,ps16", "kv_cache.page_size")),
              ElementsAreArray({"m/tp2,ps128", "m/tp2,ps3k"}))
      << "the sweep's own value of that key goes";
  EXPECT_THROW(static_cast<void>(along("m/tp1,ps16", "batch[0].kvlen")), ConfigError);
}

TEST(Sweep, of_a_mix_replaces_that_of_the_file) {
  EXPECT_THAT(
      case_ids(swept("{grid: {tp: [1, 2]}}", "{batch: q1s8, sweep: {grid: {dtype: [f16]}}}")),
      ElementsAreArray({"m/f16"}));
  EXPECT_THAT(case_ids(swept("{grid: {tp: [1, 2]}}", "{batch: q1s8, sweep: none}")),
              ElementsAreArray({"m"}));
}

}  // namespace
}  // namespace attnbench
