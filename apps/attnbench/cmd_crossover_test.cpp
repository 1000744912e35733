// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "apps/attnbench/testing/command_line.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

class CrossoverCommandLine : public CommandLine {
 protected:
  /// A smoke test, with other values for some of the options: name, value, name, value ….
  int crossover(const std::vector<const char*>& changes = {}, const std::string& json = {}) {
    std::vector<const char*> words = {"crossover", scenario_.c_str()};
    std::vector<std::pair<const char*, const char*>> options = {
        {"--case", "tiny"},         {"--axis", "batch[0].kv_len"}, {"--from", "8"},  {"--to", "64"},
        {"--base", "torch_native"}, {"--new", "cpu_flash"},        {"--points", "2"}};
    for (std::size_t i = 0; i + 1 < changes.size(); i += 2) {
      std::erase_if(options,
                    [&](const auto& option) { return std::string(option.first) == changes[i]; });
      options.emplace_back(changes[i], changes[i + 1]);
    }
    for (const auto& [name, value] : options) words.insert(words.end(), {name, value});
    words.push_back("--quick");
    if (!json.empty()) words.insert(words.end(), {"--json", json.c_str()});
    return run(words);
  }
};

TEST_F(CrossoverCommandLine, measures_both_backends_at_values_of_the_axis) {
  EXPECT_EQ(crossover(), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("tiny along batch[0].kv_len"));
  EXPECT_THAT(out_.str(), ContainsRegex("\n +8  +[0-9.]+ [^ ]+s  +[0-9.]+ [^ ]+s  +[0-9.]+ +\\("));
  EXPECT_THAT(out_.str(), ContainsRegex("\n +64  +[0-9.]+ [^ ]+s"));
  EXPECT_THAT(out_.str(), HasSubstr("cpu_flash / torch_native\n"));
  EXPECT_THAT(out_.str(), HasSubstr("crossover"));
}

TEST_F(CrossoverCommandLine, names_a_backend_that_does_not_run_the_case) {
  EXPECT_EQ(crossover({"--new", "elsewhere"}), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("    elsewhere: unsupported: not on this machine\n"));
  EXPECT_THAT(out_.str(), HasSubstr("ended at 8, which has no ratio"));
}

TEST_F(CrossoverCommandLine, writes_json_beside_the_table_or_to_standard_output_alone) {
  const std::string path = folder_ + "crossover.json";
  EXPECT_EQ(crossover({}, path), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("tiny along batch[0].kv_len"));
  std::ifstream file(path);
  const Json json = Json::parse(file);
  EXPECT_EQ(json["case"], "tiny");
  EXPECT_EQ(json["new"], "cpu_flash");
  EXPECT_EQ(json["exit_code"], 0);
  EXPECT_EQ(json["points"][1]["value"], 64);
  EXPECT_EQ(json["points"][1]["speed"]["pairs"], 8);
  EXPECT_EQ(json["scenario"]["path"], scenario_);
  EXPECT_NE(json["environment"]["threads"], 0);

  EXPECT_EQ(crossover({}, "-"), 0) << err_.str();
  EXPECT_EQ(Json::parse(out_.str())["schema"], "attnbench.crossover");
  EXPECT_THAT(err_.str(), HasSubstr("tiny along batch[0].kv_len"));
}

TEST_F(CrossoverCommandLine, refuses_a_file_that_it_cannot_write_before_it_measures) {
  EXPECT_EQ(crossover({}, folder_ + "none/crossover.json"), 5);
  EXPECT_THAT(err_.str(), HasSubstr("cannot write " + folder_ + "none/crossover.json"));
  EXPECT_THAT(out_.str(), IsEmpty());
  EXPECT_EQ(crossover({}, scenario_), 4);
  EXPECT_THAT(err_.str(), HasSubstr("would overwrite what is read"));
  EXPECT_THAT(out_.str(), IsEmpty());
}

TEST_F(CrossoverCommandLine, compares_one_backend_on_two_cases) {
  std::string text = kTiny;
  text.insert(text.find("measure"),
              "  more:\n    batch: [{count: 200, mode: decode, kv_len: 9}]\n");
  std::ofstream(scenario_) << text;
  const std::string path = folder_ + "crossover.json";
  const auto forms = [&](const char* other) {
    return crossover({"--new-case", other, "--new", "torch_native", "--rounds", "8"}, path);
  };
  EXPECT_EQ(forms("more"), 0) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("tiny (torch_native) and more (torch_native) along"));
  EXPECT_THAT(out_.str(), HasSubstr("more / tiny\n"));
  std::ifstream file(path);
  const Json json = Json::parse(file);
  EXPECT_EQ(json["case"], "tiny");
  EXPECT_EQ(json["new_case"], "more");
  EXPECT_EQ(json["points"].size(), 2u);
  for (const Json& point : json["points"]) {
    EXPECT_EQ(point["problem"], "");
    EXPECT_TRUE(point["speed"]["pairs"].is_null()) << "the cases were measured one after the other";
    EXPECT_LT(point["speed"]["base_us"], point["speed"]["new_us"]) << "a hundredth of the work";
  }

  EXPECT_EQ(forms("tiny"), 4);
  EXPECT_THAT(err_.str(), HasSubstr("--case and --new-case are both 'tiny'"));
  EXPECT_EQ(forms("mroe"), 4);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'more'?"));
}

TEST_F(CrossoverCommandLine, compares_attention_to_all_keys_with_a_pipeline_that_chooses_some) {
  std::string text = kTiny;
  text.insert(text.find("measure"),
              "  sparse:\n    attention: {selection: {topk: 2}}\n"
              "    batch: [{mode: decode, kv_len: 9}]\n");
  std::ofstream(scenario_) << text;
  const auto search = [&](const std::vector<const char*>& cases, const char* step) {
    std::vector<const char*> changes = {"--new-step", step, "--new", "indexer+topk+torch_native",
                                        "--rounds",   "8"};
    changes.insert(changes.end(), cases.begin(), cases.end());
    return crossover(changes, "-");
  };
  const std::vector<const char*> dense_and_sparse = {"--new-case", "sparse"};
  EXPECT_EQ(search(dense_and_sparse, "pipeline"), 0) << err_.str();
  const Json json = Json::parse(out_.str());
  EXPECT_EQ(json["new_case"], "sparse");
  for (const Json& point : json["points"]) EXPECT_EQ(point["problem"], "");
  EXPECT_EQ(json["step"], "attention");
  EXPECT_EQ(json["new_step"], "pipeline");
  EXPECT_THAT(err_.str(), HasSubstr("tiny (attention of torch_native) and sparse (pipeline of "
                                    "indexer+topk+torch_native) along"));
  EXPECT_EQ(search({"--case", "sparse"}, "pipeline"), 0) << err_.str();
  EXPECT_THAT(err_.str(), HasSubstr("indexer+topk+torch_native / torch_native\n"));
  EXPECT_EQ(search(dense_and_sparse, "pipline"), 4);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'pipeline'?"));
}

TEST_F(CrossoverCommandLine, exits_4_on_what_it_cannot_search) {
  const auto refused = [&](const std::vector<const char*>& changes, const char* message) {
    EXPECT_EQ(crossover(changes), 4);
    EXPECT_THAT(err_.str(), HasSubstr(message));
  };
  refused({"--axis", "batch[0].kvlen"}, "did you mean 'kv_len'?");
  refused({"--axis", "batch[1].kv_len"}, "no batch entry for batch[1].kv_len");
  refused({"--case", "tinny"}, "did you mean 'tiny'?");
  refused({"--new", "cpu_flsh"}, "cpu_flash");
  refused({"--new", "torch_native"}, "both 'torch_native'");
  refused({"--from", "64"}, "the smaller end comes first");
  refused({"--rounds", "7"}, "takes 8 (--rounds)");
  EXPECT_EQ(run({"crossover", scenario_.c_str()}), 4);
}

}  // namespace
}  // namespace attnbench
