// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/regular_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "lib/base/error.h"

namespace attnbench {
namespace {

class RegularFile : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string refusal(const std::string& path, std::size_t limit = 100) {
    try {
      return "accepted: " + read_regular_file(path, limit);
    } catch (const ConfigError& error) {
      return error.diagnostics().front().message;
    }
  }

  std::string folder_ = testing::TempDir() + "regular_file_test";
};

TEST_F(RegularFile, is_read_whole_up_to_the_limit) {
  std::ofstream(folder_ + "/a") << "12345";
  EXPECT_EQ(read_regular_file(folder_ + "/a", 5), "12345");
  EXPECT_EQ(refusal(folder_ + "/a", 4), folder_ + "/a has more than 4 bytes");
}

TEST_F(RegularFile, is_no_folder) {
  EXPECT_EQ(refusal(folder_), folder_ + " is a folder; a regular file is needed");
}

TEST_F(RegularFile, is_no_pipe_that_nobody_writes_to) {
  const std::string pipe = folder_ + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(refusal(pipe), pipe + " is a pipe; a regular file is needed");
}

TEST_F(RegularFile, is_no_device_without_end) {
  EXPECT_EQ(refusal("/dev/zero"), "/dev/zero is a device; a regular file is needed");
}

TEST_F(RegularFile, has_a_path_that_no_nul_cuts_off) {
  std::ofstream(folder_ + "/a") << "12345";
  EXPECT_NE(refusal(folder_ + "/a" + std::string(1, '\0') + "x").find("a path with a NUL in it"),
            std::string::npos);
}

TEST_F(RegularFile, that_is_missing_says_so) {
  EXPECT_EQ(refusal(folder_ + "/none"),
            "cannot read " + folder_ + "/none: No such file or directory");
}

}  // namespace
}  // namespace attnbench
