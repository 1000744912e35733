// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/plugins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PackFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(packs_);
    for (const char* file : {"/vllm_pack.py", "/torch_pack.py", "/torch_tools.py", "/x_pack.txt"}) {
      std::ofstream(packs_ + file) << "";
    }
  }
  void TearDown() override { std::filesystem::remove_all(packs_); }

  std::string refusal(const std::string& word) const {
    try {
      static_cast<void>(plugin_files(word, packs_));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "it is accepted";
  }

  std::string packs_ = testing::TempDir() + "pack_files_test_" + std::to_string(getpid());
};

TEST_F(PackFiles, are_all_of_a_folder_and_no_helper_modules) {
  const auto all = ElementsAre(packs_ + "/torch_pack.py", packs_ + "/vllm_pack.py");
  EXPECT_THAT(plugin_files("packs", packs_), all);
  EXPECT_THAT(plugin_files(packs_, "/nowhere"), all);
}

TEST_F(PackFiles, are_found_by_name) {
  EXPECT_THAT(plugin_files("packs/torch", packs_), ElementsAre(packs_ + "/torch_pack.py"));
  EXPECT_THAT(refusal("packs/torhc"), HasSubstr("there is no pack 'torhc'"));
  EXPECT_THAT(refusal("packs/torhc"), HasSubstr("did you mean 'torch'?"));
  EXPECT_THAT(refusal("packs/torch_tools"), HasSubstr("packs: torch vllm"));
}

TEST_F(PackFiles, leave_the_names_of_other_files_as_they_are) {
  const std::string here = std::filesystem::current_path();
  EXPECT_THAT(plugin_files("./mine.py", packs_), ElementsAre(here + "/mine.py"));
  EXPECT_THAT(plugin_files("packs/torch_pack.py", packs_),
              ElementsAre(here + "/packs/torch_pack.py"));
  EXPECT_THAT(plugin_files("/a/../b.so", packs_), ElementsAre("/b.so"));
}

TEST_F(PackFiles, are_missed_in_a_folder_without_any) {
  std::filesystem::create_directory(packs_ + "/empty");
  EXPECT_THAT(refusal(packs_ + "/empty"), HasSubstr("no file in this folder ends with _pack.py"));
}

TEST_F(PackFiles, lie_in_the_source_tree_of_a_program_that_is_not_installed) {
  EXPECT_EQ(packs_folder(), std::string(ATTNBENCH_SOURCE_DIR) + "/backends/packs");
}

}  // namespace
}  // namespace attnbench
