// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(EnvironmentList, is_the_words_between_colons_without_empty_ones) {
  const char* const kName = "ATTNBENCH_TEST_LIST";
  setenv(kName, "/one::/two:", 1);
  EXPECT_THAT(environment_list(kName), ElementsAre("/one", "/two"));
  unsetenv(kName);
  EXPECT_THAT(environment_list(kName), IsEmpty());
}

TEST(TemporaryFolder, is_gone_with_its_files_at_the_end) {
  std::string file;
  {
    const TemporaryFolder folder("test");
    file = folder.file("text");
    std::ofstream(file) << "text";
    EXPECT_TRUE(std::filesystem::exists(file));
  }
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path()));
}

namespace fs = std::filesystem;

/// In a folder of its own while a test runs.
class LastingPath : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(folder_);
    fs::current_path(folder_);
  }
  void TearDown() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }
  fs::path before_ = fs::current_path();
  fs::path folder_ =
      fs::canonical(testing::TempDir()) / ("lasting_path_test_" + std::to_string(getpid()));
};

TEST_F(LastingPath, begins_at_the_root_and_has_no_steps_back) {
  EXPECT_EQ(lasting_path("sub/../s.yaml"), (folder_ / "s.yaml").string());
  EXPECT_EQ(lasting_path("/a/./b"), "/a/b");
}

TEST_F(LastingPath, stays_as_it_is_where_the_folder_has_been_removed) {
  fs::remove_all(folder_);
  EXPECT_EQ(lasting_path("../s.yaml"), "../s.yaml");
}

}  // namespace
}  // namespace attnbench
