// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/captured_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/sha256.h"
#include "lib/batch/chosen_keys.h"
#include "lib/config/testing/npy_file.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Numbers = std::vector<std::int32_t>;

/// A step of a decode of 9 keys and a prompt of 2 tokens behind 3, with lists of 3 entries.
class CapturedLists : public testing::Test {
 protected:
  CapturedLists() { std::filesystem::create_directories(folder_); }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  void write_lists(const Numbers& units) const {
    write("lists.npy", npy_file_of_int32("3, 1, 3", units));
  }

  [[nodiscard]] Scenario scenario(const std::string& selection,
                                  const std::string& more = "") const {
    return parse_scenario("mixes:\n  a:\n    model: {heads_q: 4, heads_kv: 2, head_dim: 64}\n" +
                              ("    attention: {selection: {" + selection + "}}\n") + more +
                              "    batch: [{mode: decode, kv_len: 9}, "
                              "{mode: extend, q_len: 2, prefix_len: 3}]\n",
                          folder_ + "/s.yaml");
  }
  [[nodiscard]] Case only_case(const std::string& selection) const {
    return scenario(selection).cases.at(0);
  }
  [[nodiscard]] std::string refusal(const std::string& selection,
                                    const std::string& more = "") const {
    try {
      static_cast<void>(scenario(selection, more));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }

  const std::string folder_ = testing::TempDir() + "/captured_lists";
  const std::string file_ = "topk: 3, pattern: {file: lists.npy}";
  const std::string with_lengths_ = "topk: 3, pattern: {file: lists.npy, lengths: lengths.npy}";
};

Numbers list_of(const Case& c, std::size_t request, std::int64_t token) {
  const ChosenKeys lists = lists_of(c.layer, c.requests[request], token, 1);
  const auto list = lists.list(0, 0);
  return {list.begin(), list.end()};
}

TEST_F(CapturedLists, are_those_of_their_file_of_which_all_columns_count) {
  write_lists({8, -1, 2, 0, 3, 1, 4, 2, -1});
  const Case c = only_case(file_);
  EXPECT_THAT(list_of(c, 0, 0), ElementsAre(8, -1, 2));
  EXPECT_THAT(list_of(c, 1, 0), ElementsAre(0, 3, 1));
  EXPECT_THAT(list_of(c, 1, 1), ElementsAre(4, 2, -1));
  EXPECT_EQ(c.layer.selection.pattern, SelectionPattern::kCaptured);
  EXPECT_EQ(c.layer.selection.padding, SelectionPadding::kEnd);
  EXPECT_FALSE(c.layer.selection.repeats());
}

TEST_F(CapturedLists, end_where_a_second_file_says) {
  write_lists({8, 2, 2, 0, -1, -1, 4, 2, -1});
  write("lengths.npy", npy_file_of_int32("3, 1", {2, 1, 0}));
  const Case c = only_case(with_lengths_);
  EXPECT_THAT(list_of(c, 0, 0), ElementsAre(8, 2));
  EXPECT_THAT(list_of(c, 1, 0), ElementsAre(0));
  EXPECT_THAT(list_of(c, 1, 1), ElementsAre());
  EXPECT_EQ(c.layer.selection.padding, SelectionPadding::kRepeat) << "columns that do not count";
  EXPECT_FALSE(c.layer.selection.repeats()) << "the second 2 does not count";
}

TEST_F(CapturedLists, tell_the_layer_that_they_name_a_unit_twice) {
  write_lists({2, 2, 0, 0, -1, -1, -1, 2, -1});
  EXPECT_TRUE(only_case(file_).layer.selection.repeats());
}

TEST_F(CapturedLists, leave_their_hash_with_the_scenario) {
  write_lists({8, -1, 2, 0, 3, 1, 4, 2, -1});
  const std::string bytes = npy_file_of_int32("3, 1", {3, 3, 3});
  write("lengths.npy", bytes);
  EXPECT_THAT(scenario(with_lengths_).configs,
              ElementsAre(InputFile{"lists.npy", sha256_of_file(folder_ + "/lists.npy")},
                          InputFile{"lengths.npy", sha256_hex(bytes)}));
  const Scenario swept =
      scenario("topk: 3",
               "    sweep: {grid: {attention.selection.pattern: [uniform, {file: lists.npy}]}}\n");
  EXPECT_EQ(swept.configs.size(), 1U);
  EXPECT_EQ(swept.cases.at(1).layer.selection.pattern, SelectionPattern::kCaptured);
}

TEST_F(CapturedLists, of_another_shape_are_refused) {
  write("lists.npy", npy_file_of_int32("3, 2, 3", Numbers(18)));
  EXPECT_THAT(refusal(file_), HasSubstr("lists.npy holds int32 of shape [3, 2, 3], not int32 of "
                                        "shape [3, 1, 3]"));
  EXPECT_THAT(refusal(file_),
              HasSubstr("\n   int32 [query tokens with the batch's padding, groups of "
                        "heads, topk], in C order"));
  write_lists(Numbers(9));
  EXPECT_THAT(refusal(file_, "    padding: {tokens: 2}\n"),
              HasSubstr("shape [3, 1, 3], not int32 of shape [5, 1, 3]"));
  write("lengths.npy", npy_file_of_int32("3, 3", Numbers(9)));
  EXPECT_THAT(refusal(with_lengths_), HasSubstr("lengths.npy holds int32 of shape [3, 3], not "
                                                "int32 of shape [3, 1]"));
  EXPECT_THAT(refusal("topk: 3, pattern: {file: none_such.npy}"),
              HasSubstr("none_such.npy: No such file"));
}

TEST_F(CapturedLists, that_name_no_key_of_their_query_are_refused) {
  const auto refused = [&](const Numbers& units, const std::string& rule) {
    write_lists(units);
    return refusal(rule);
  };
  EXPECT_THAT(refused({9, 0, 0, 0, 0, 0, 0, 0, 0}, file_),
              testing::AllOf(HasSubstr("unit 9 of token 0, group 0, column 0"),
                             HasSubstr("-1, or 0 to 8: the units of 1 key up to the query's own, "
                                       "which is at 8")));
  EXPECT_THAT(
      refused({8, 0, 0, 0, 0, 4, 0, 0, 0}, file_),
      testing::AllOf(HasSubstr("unit 4 of token 1, group 0, column 2"), HasSubstr("0 to 3")))
      << "a key of the next query";
  EXPECT_THAT(refused({8, 0, 0, 0, 0, 0, 0, -2, 0}, file_), HasSubstr("unit -2 of token 2"));
  EXPECT_THAT(refused({2, 0, 0, 0, 0, 0, 0, 0, 0}, "unit: 4, " + file_), "accepted");
  EXPECT_THAT(refused({3, 0, 0, 0, 0, 0, 0, 0, 0}, "unit: 4, " + file_),
              HasSubstr("-1, or 0 to 2: the units of 4 keys"));
  write("lengths.npy", npy_file_of_int32("3, 1", {3, 4, 0}));
  EXPECT_THAT(refused(Numbers(9), with_lengths_),
              testing::AllOf(HasSubstr("topk_length 4 of token 1, group 0"),
                             HasSubstr("0 to 3, the topk, columns count")));
}

TEST_F(CapturedLists, have_columns_of_their_own) {
  write_lists(Numbers(9));
  EXPECT_THAT(refusal(file_ + ", padding: repeat"),
              HasSubstr("padding beside the file of a pattern"));
  EXPECT_THAT(refusal(file_ + ", overlap: 0.5"), HasSubstr("overlap of pattern captured"));
  EXPECT_THAT(refusal("topk: 3, pattern: {lengths: lengths.npy}"), HasSubstr("has no file"));
}

TEST_F(CapturedLists, of_pages_before_a_window_have_no_page_that_it_touches) {
  const std::string pages = "unit: 2, window_keys: 3, " + file_;
  write_lists({2, -1, 0, -1, -1, -1, 0, -1, -1});
  EXPECT_THAT(list_of(only_case(pages), 0, 0), ElementsAre(2, -1, 0));
  write_lists({3, -1, 0, -1, -1, -1, 0, -1, -1});
  EXPECT_THAT(refusal(pages), HasSubstr("-1, or 0 to 2: the complete units of 2 keys before the 3 "
                                        "keys up to the query's own, which is at 8"));
  write_lists({2, -1, 0, 0, -1, -1, 0, -1, -1});
  EXPECT_THAT(refusal(pages), HasSubstr("there is no complete unit before its window"))
      << "the query at position 3 has key 0 only";
}

}  // namespace
}  // namespace attnbench
