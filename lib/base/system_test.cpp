// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/system.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

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

}  // namespace
}  // namespace attnbench
