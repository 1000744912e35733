// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/python_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using testing::HasSubstr;

template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "it is accepted";
}

TEST(PythonEnvironment, is_a_name_and_an_interpreter) {
  EXPECT_EQ(python_environment("v33=/a/bin/python"), (PythonEnvironment{"v33", "/a/bin/python"}));
  EXPECT_EQ(python_environment("vllm-0.33.0=python3"),
            (PythonEnvironment{"vllm-0.33.0", "python3"}));
  EXPECT_EQ(python_environment("/a=b/../python"), (PythonEnvironment{"", "/python"}));
  EXPECT_EQ(python_environment("python3.12"), (PythonEnvironment{"", "python3.12"}));
  for (const char* word : {"v33=/a/python", "python3"}) {
    EXPECT_EQ(to_string(python_environment(word)), word);
  }
}

TEST(PythonEnvironment, has_a_name_that_no_part_of_a_backend_s_name_is_taken_for) {
  for (const char* word : {"=python", "v33=", "a+b=python", "a:b=python", "v*=python", "v 3=x"}) {
    EXPECT_THAT(refusal([&] { static_cast<void>(python_environment(word)); }),
                HasSubstr("takes an interpreter, or NAME=INTERPRETER"))
        << word;
  }
}

TEST(PythonEnvironment, is_told_from_others_by_its_name) {
  const auto checked = [](std::vector<PythonEnvironment> environments) {
    return refusal([&] { expect_distinct(environments); });
  };
  EXPECT_EQ(checked({{"", "a"}}), "it is accepted");
  EXPECT_EQ(checked({{"x", "a"}, {"y", "a"}}), "it is accepted");
  EXPECT_THAT(checked({{"x", "a"}, {"x", "b"}}), HasSubstr("two environments are called 'x'"));
  EXPECT_THAT(checked({{"x", "a"}, {"", "b"}}),
              HasSubstr("--python b: several interpreters need names: --python NAME=b"));
}

TEST(PythonEnvironment, stands_before_the_names_of_its_backends) {
  EXPECT_EQ(name_in({"v33", "python"}, "vllm:fa3"), "v33/vllm:fa3");
  EXPECT_EQ(without_environment("v33/vllm:fa3:splits=4"), "vllm:fa3:splits=4");
  EXPECT_EQ(without_environment("v33/vllm:fa3+splitkv"), "vllm:fa3+splitkv");
  EXPECT_EQ(without_environment("v33/a+v33/b:speculative_attention_mode=decode"),
            "a+b:speculative_attention_mode=decode");
  EXPECT_EQ(without_environment("cpu_flash"), "cpu_flash");
}

}  // namespace
}  // namespace attnbench
