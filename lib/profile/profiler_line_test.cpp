// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/profiler_line.h"
#include "lib/base/shell_text.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace attnbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class FindProfiler : public testing::Test {
 protected:
  FindProfiler() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "attnbench-profile-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FindProfiler() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  void put(const std::string& name, mode_t mode) const {
    std::ofstream(folder_ + "/" + name) << "#!/bin/sh\n";
    chmod((folder_ + "/" + name).c_str(), mode);
  }
  std::string folder_;
};

TEST_F(FindProfiler, takes_the_first_executable_on_the_path) {
  put("ncu", 0755);
  EXPECT_EQ(find_profiler(ProfilerTool::kNcu, {"/nowhere", folder_}).path, folder_ + "/ncu");
}

TEST_F(FindProfiler, says_where_it_looked) {
  put("nsys", 0644);  // there, but nothing to run
  const ProfilerSearch search = find_profiler(ProfilerTool::kNsys, {"/nowhere", folder_});
  EXPECT_NE(search.path, folder_ + "/nsys");
  EXPECT_THAT(search.looked, Contains("/nowhere"));
  EXPECT_THAT(search.looked, Contains(folder_));
  EXPECT_THAT(search.looked, testing::Not(Contains("")));
}

TEST(ProfilerLine, ends_with_the_inner_command) {
  const auto ncu =
      profiler_line(ProfilerTool::kNcu, "ncu", "out", "full", {"attnbench", "profile"});
  EXPECT_EQ(ncu.front(), "ncu");
  EXPECT_EQ(ncu[ncu.size() - 2], "attnbench");
  EXPECT_THAT(shell_text(ncu), HasSubstr("--profile-from-start off"));
  EXPECT_THAT(shell_text(ncu), HasSubstr("--cache-control none"));
  EXPECT_THAT(shell_text(ncu), HasSubstr("--set full"));
  const auto nsys = profiler_line(ProfilerTool::kNsys, "nsys", "out", "full", {"attnbench"});
  EXPECT_THAT(shell_text(nsys), HasSubstr("--capture-range cudaProfilerApi"));
  EXPECT_THAT(shell_text(nsys), HasSubstr("--cuda-graph-trace node"));
}

/// What /bin/sh makes of a line: its words, one a line.
std::vector<std::string> words_in_a_shell(const std::string& line) {
  std::FILE* const pipe = popen(("printf '%s\\n' " + line).c_str(), "r");
  std::vector<std::string> words;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) {
    words.emplace_back(buffer);
    words.back().pop_back();
  }
  pclose(pipe);
  return words;
}

TEST(ShellText, is_read_back_by_a_shell_as_the_same_words) {
  const std::vector<std::string> words = {"a b", "it's", "$HOME", "*", "--case=x/page=16", "\"q\""};
  EXPECT_EQ(words_in_a_shell(shell_text(words)), words);
}

}  // namespace
}  // namespace attnbench
