// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/result_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <sstream>

#include "lib/base/error.h"

namespace attnbench {
namespace {

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class ResultFile : public testing::Test {
 protected:
  /// Of this process: several share the tests among them.
  std::string name_ = "result_file_test_" + std::to_string(getpid()) + ".json";
  std::string path_ = testing::TempDir() + name_;
  std::ostringstream standard_output_;

  void SetUp() override { std::filesystem::remove(path_); }
  void TearDown() override { std::filesystem::remove(path_); }
};

TEST_F(ResultFile, is_there_whole_and_leaves_no_part_behind) {
  write_result_file(path_, standard_output_, [](std::ostream& out) { out << "{}"; });
  EXPECT_EQ(content_of(path_), "{}");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
}

TEST_F(ResultFile, keeps_the_older_file_when_writing_fails) {
  write_result_file(path_, standard_output_, [](std::ostream& out) { out << "old"; });
  EXPECT_THROW(write_result_file(path_, standard_output_,
                                 [](std::ostream& out) { out.setstate(std::ios::badbit); }),
               EnvironmentError);
  EXPECT_EQ(content_of(path_), "old");
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
}

TEST_F(ResultFile, names_the_reason_when_the_disk_is_full) {
  try {
    write_result_file("/dev/full", standard_output_,
                      [](std::ostream& out) { out << std::string(1 << 20, 'x'); });
    FAIL() << "a full disk took a megabyte";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "cannot write /dev/full: No space left on device");
  }
}

TEST_F(ResultFile, names_the_folder_that_does_not_exist) {
  try {
    write_result_file("/no/such/folder/r.json", standard_output_, [](std::ostream&) {});
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "cannot write /no/such/folder/r.json: No such file or directory");
  }
}

TEST_F(ResultFile, writes_through_a_symbolic_link) {
  const std::string link = path_ + ".link";
  for (const std::string& target : {path_, name_}) {
    std::filesystem::remove(path_);
    std::filesystem::remove(link);
    std::filesystem::create_symlink(target, link);
    for (const char* text : {"first", "second"}) {  // the first time it leads nowhere
      expect_writable(link);
      write_result_file(link, standard_output_, [&](std::ostream& out) { out << text; });
      EXPECT_TRUE(std::filesystem::is_symlink(link));
      EXPECT_EQ(content_of(path_), text);
    }
  }
  std::filesystem::remove(link);
}

TEST_F(ResultFile, is_tried_beforehand_without_a_trace) {
  expect_writable(path_);
  EXPECT_FALSE(std::filesystem::exists(path_));
  EXPECT_FALSE(std::filesystem::exists(path_ + ".part"));
  EXPECT_THROW(expect_writable("/no/such/folder/r.json"), EnvironmentError);
  EXPECT_THROW(expect_writable(testing::TempDir()), EnvironmentError);
  EXPECT_NO_THROW(expect_writable("/dev/stdout"));
  EXPECT_NO_THROW(expect_writable("/dev/null"));
}

TEST_F(ResultFile, goes_to_standard_output_for_a_dash) {
  write_result_file("-", standard_output_, [](std::ostream& out) { out << "{}"; });
  EXPECT_EQ(standard_output_.str(), "{}");
}

}  // namespace
}  // namespace attnbench
