// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/lasting_path.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

namespace attnbench {
namespace {

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
