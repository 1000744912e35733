// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Where a run writes its results, and what it says of a file that it cannot write.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "apps/attnbench/testing/command_line.h"

namespace attnbench {
namespace {

TEST_F(CommandLine, exits_5_on_a_full_disk_and_prints_the_results_instead) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--json", "/dev/full"}), 5);
  EXPECT_NE(err_.str().find("No space left on device"), std::string::npos) << err_.str();
  EXPECT_NE(out_.str().find("torch_native"), std::string::npos);
}

TEST_F(CommandLine, exits_4_on_a_file_name_that_is_empty_and_measures_nothing) {
  for (const char* option :
       {"--json", "--csv", "--markdown", "--junit", "--google-benchmark", "-o"}) {
    EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", option, ""}), 4) << option;
    EXPECT_NE(err_.str().find("a variable that is not set?"), std::string::npos) << err_.str();
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(CommandLine, exits_5_before_the_run_when_a_file_cannot_be_written) {
  for (const char* path : {"/no/such/folder/r.json", "/"}) {
    EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--json", path}), 5);
    EXPECT_NE(err_.str().find(std::string("cannot write ") + path), std::string::npos);
    EXPECT_EQ(out_.str(), "");
  }
}

TEST_F(CommandLine, exits_4_when_a_file_would_overwrite_another_or_the_scenario) {
  const std::string file = folder_ + "twice";
  const std::string same = folder_ + "./twice";
  EXPECT_EQ(run({"run", scenario_.c_str(), "--json", file.c_str(), "--csv", same.c_str()}), 4);
  EXPECT_NE(err_.str().find("would write the same file"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--json", "-", "--csv", "-"}), 4);
  EXPECT_EQ(run({"run", scenario_.c_str(), "--json", scenario_.c_str()}), 4);
  EXPECT_NE(err_.str().find("would overwrite the scenario"), std::string::npos) << err_.str();
  EXPECT_FALSE(std::filesystem::exists(file));
  EXPECT_EQ(out_.str(), "");
}

TEST_F(CommandLine, writes_json_alone_to_standard_output) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--json", "-"}), 0);
  EXPECT_EQ(out_.str().front(), '{');
  EXPECT_NE(out_.str().find("\"schema_version\""), std::string::npos);
}

}  // namespace
}  // namespace attnbench
