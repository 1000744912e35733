// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/attnbench/command.h"
#include "lib/backend/testing/stub_backend.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

class NewPlugin : public testing::Test {
 protected:
  int run(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), {"attnbench", "new-plugin"});
    out_.str("");
    err_.str("");
    Console console{out_, err_};
    return run_command_line(static_cast<int>(arguments.size()), arguments.data(), registry_,
                            console);
  }

  void SetUp() override {
    registry_.add([] { return std::make_unique<StubBackend>("taken"); });
    std::filesystem::create_directory(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Registry registry_;
  std::string folder_ = testing::TempDir() + "new_plugin_test_" + std::to_string(getpid());
  std::ostringstream out_, err_;
};

TEST_F(NewPlugin, writes_the_example_under_its_own_name) {
  ASSERT_EQ(run({"mine_2", "--c", "-o", folder_.c_str()}), 0) << err_.str();
  const std::string text = text_of(folder_ + "/mine_2.c");
  EXPECT_THAT(text, HasSubstr(".name = \"mine_2\""));
  EXPECT_THAT(text, Not(HasSubstr("example_plugin")));
  std::string example = text_of(ATTNBENCH_SOURCE_DIR "/backends/example_plugin/example_plugin.c");
  const std::string name = "example_plugin";
  const std::size_t at = example.find(name);
  EXPECT_EQ(text, example.replace(at, name.size(), "mine_2"));
}

TEST_F(NewPlugin, prints_the_lines_to_go_on_with) {
  ASSERT_EQ(run({"mine", "--c", "-o", folder_.c_str()}), 0) << err_.str();
  const std::string stem = folder_ + "/mine";
  EXPECT_THAT(out_.str(), HasSubstr(" -I " ATTNBENCH_SOURCE_DIR "/lib/backend/include " + stem +
                                    ".c -o " + stem + ".so -lm\n"));
  EXPECT_THAT(out_.str(), HasSubstr("attnbench run "));
  EXPECT_THAT(out_.str(), HasSubstr("scenarios/quickstart.yaml --plugin " + stem +
                                    ".so --backend mine,cpu_flash\n"));
}

TEST_F(NewPlugin, leaves_a_file_that_is_there_alone) {
  std::ofstream(folder_ + "/mine.c") << "precious";
  EXPECT_EQ(run({"mine", "--c", "-o", folder_.c_str()}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("mine.c is there already"));
  EXPECT_EQ(text_of(folder_ + "/mine.c"), "precious");
}

TEST_F(NewPlugin, refuses_names_that_no_backend_can_have) {
  for (const char* name : {"", "Mine", "my-own", "2mine", "_mine", "../mine", "mine.c", "mïne"}) {
    EXPECT_EQ(run({name, "--c", "-o", folder_.c_str()}), 4) << name;
    EXPECT_THAT(err_.str(), HasSubstr("lower case")) << name;
  }
  EXPECT_EQ(run({"taken", "--c", "-o", folder_.c_str()}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("there is a backend 'taken' already"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

/// Programs of that name on a PATH of their own; `code`: what an import ends with there.
void write_python(const std::string& folder, int code) {
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/python3") << "#!/bin/sh\nexit " << code << '\n';
  std::filesystem::permissions(folder + "/python3", std::filesystem::perms::owner_all);
}

TEST_F(NewPlugin, names_an_interpreter_that_has_numpy) {
  const std::string path = std::getenv("PATH");
  const std::string first = folder_ + "/first", second = folder_ + "/second";
  const std::string line = "--plugin " + folder_ + "/mine.py --backend mine,cpu_flash";
  setenv("PATH", (first + ":" + second).c_str(), 1);
  const auto lines_where = [&](int in_first, int in_second) {
    write_python(first, in_first);
    write_python(second, in_second);
    std::filesystem::remove(folder_ + "/mine.py");
    EXPECT_EQ(run({"mine", "--python", "-o", folder_.c_str()}), 0) << err_.str();
    return out_.str();
  };
  EXPECT_THAT(lines_where(0, 0), testing::EndsWith(line + "\n"));
  EXPECT_THAT(lines_where(1, 0), testing::EndsWith(line + " --python " + second + "/python3\n"));
  const std::string none = lines_where(1, 1);
  EXPECT_THAT(none, testing::StartsWith("python3 -m pip install numpy\n"));
  EXPECT_THAT(none, testing::EndsWith(line + "\n"));
  setenv("PATH", path.c_str(), 1);
}

TEST_F(NewPlugin, writes_python_too) {
  ASSERT_EQ(run({"mine", "--python", "-o", folder_.c_str()}), 0) << err_.str();
  EXPECT_THAT(text_of(folder_ + "/mine.py"), HasSubstr("name = \"mine\""));
  EXPECT_THAT(text_of(folder_ + "/mine.py"), Not(HasSubstr("python_example")));
  EXPECT_THAT(out_.str(), HasSubstr("--plugin " + folder_ + "/mine.py --backend mine,cpu_flash"));
}

TEST_F(NewPlugin, asks_for_one_language) {
  EXPECT_EQ(run({"mine", "-o", folder_.c_str()}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("--c or --python"));
  EXPECT_EQ(run({"mine", "--c", "--python", "-o", folder_.c_str()}), 4);
  EXPECT_TRUE(std::filesystem::is_empty(folder_));
}

TEST_F(NewPlugin, exits_5_where_it_cannot_write) {
  EXPECT_EQ(run({"mine", "--c", "-o", (folder_ + "/none").c_str()}), 5);
  EXPECT_THAT(err_.str(), HasSubstr("cannot write"));
}

}  // namespace
}  // namespace attnbench
