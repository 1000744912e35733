// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Interpreters are shell scripts that answer as package_host.py does; ab_package_test.py runs pip.
#include "lib/gate/package_versions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

const std::vector<std::string> kReleased = {"0.6.9", "0.7.0", "0.7.0.post1", "0.7.2"};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  } catch (const EnvironmentError& error) {
    return error.what();
  }
  return "nothing is wrong";
}

std::string mistake_in(const std::string& range) {
  return message_of([&] { static_cast<void>(versions_in(range, kReleased, "engine")); });
}

TEST(VersionsIn, are_those_from_the_first_to_the_last) {
  EXPECT_THAT(versions_in("0.7.0..0.7.2", kReleased, "engine"),
              ElementsAre("0.7.0", "0.7.0.post1", "0.7.2"));
  EXPECT_THAT(versions_in("0.6.9..0.7.0", kReleased, "engine"), ElementsAre("0.6.9", "0.7.0"));
}

TEST(VersionsIn, need_two_versions_in_their_order) {
  EXPECT_EQ(mistake_in("0.7.0"), "--versions 0.7.0: takes two versions, FIRST..LAST");
  EXPECT_EQ(mistake_in("0.7.0..0.7.0"), "--versions 0.7.0..0.7.0: a search takes two versions");
  EXPECT_THAT(mistake_in("0.7.2..0.6.9"), HasSubstr(": 0.6.9 is older than 0.7.2; the older one"));
  EXPECT_THAT(mistake_in("0.7.0..0.7.3"), HasSubstr("pip finds no engine 0.7.3"));
  EXPECT_THAT(mistake_in("0.7.0..12"), HasSubstr("no engine 12; there are 0.6.9 to 0.7.2"));
  EXPECT_THAT(mistake_in("..0.7.2"), HasSubstr("pip finds no engine "));
}

class PackageInterpreter : public testing::Test {
 protected:
  /// An interpreter that runs `body`.
  PackageSource source(const std::string& body) {
    std::ofstream(path_) << "#!/bin/sh\n" << body << '\n';
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
    return {path_, "engine"};
  }
  void TearDown() override { std::filesystem::remove(path_); }

  std::string path_ = testing::TempDir() + "package_python_" + std::to_string(getpid());
};

TEST_F(PackageInterpreter, is_asked_for_versions_and_environments) {
  EXPECT_THAT(released_versions(source(R"(echo noise; echo "{\"versions\": [\"$4\", \"$5\"]}")")),
              ElementsAre("engine", "final"));
  PackageEnvironment made =
      environment_with(source(R"(echo "{\"python\": \"/$3/$4/$5\"}")"), "1.0");
  EXPECT_EQ(made.python, "/make/engine/1.0");
  EXPECT_EQ(made.absent, "");
  made = environment_with(source(R"(echo '{"absent": "it does not build"}')"), "1.0");
  EXPECT_EQ(made.absent, "it does not build");
}

TEST_F(PackageInterpreter, says_in_a_sentence_what_keeps_it_from_that) {
  const auto of = [&](const PackageSource& source) {
    return message_of([&] { static_cast<void>(released_versions(source)); });
  };
  EXPECT_EQ(of(source(R"(echo '{"absent": "no such package"}')")), "--package: no such package");
  EXPECT_EQ(of(source(R"(echo '{"unable": "no pip"}')")), "no pip");
  EXPECT_EQ(of(source("echo hello")),
            path_ + " exited with code 0: hello; --python names the interpreter");
  EXPECT_THAT(of(source("exit 3")), StartsWith(path_ + " exited with code 3; --python"));
  EXPECT_EQ(of({"/nowhere/python", "engine"}),
            "/nowhere/python cannot be run; --python names the interpreter");
  EXPECT_THROW(static_cast<void>(environment_with(source(R"(echo '{"unable": "x"}')"), "1.0")),
               EnvironmentError);
}

TEST_F(PackageInterpreter, is_ended_where_a_stop_is_asked_for) {
  PackageSource slow = source("sleep 600");
  slow.stop_requested = [] { return true; };
  EXPECT_EQ(environment_with(slow, "1.0").python, "");
}

}  // namespace
}  // namespace attnbench
