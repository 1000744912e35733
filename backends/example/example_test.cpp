// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/example/example.h"

#include <fstream>
#include <sstream>

#include "backends/testing/conformance.h"

namespace attnbench::example {
namespace {

// One line runs the shared suite on a new backend.
TEST(Example, conforms) {
  conformance::expect_all([] { return std::make_unique<Example>(); });
}

TEST(Example, refuses_what_it_does_not_do_with_a_reason) {
  EXPECT_EQ(Example().supports(problem_of(small_tree_verify())).reason(),
            "no draft trees that branch");
}

std::string text_of(const std::string& path) {
  std::ifstream file(std::string(ATTNBENCH_SOURCE_DIR) + "/" + path);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}

TEST(Example, is_the_one_that_the_readme_shows) {
  const std::string source = text_of("backends/example/example.cpp");
  const std::string begin = "// [README: the kernel]\n";
  const std::size_t from = source.find(begin) + begin.size();
  const std::string kernel = source.substr(from, source.find("// [README: end]") - from);
  ASSERT_GT(kernel.size(), 500u);
  EXPECT_NE(text_of("backends/README.md").find("```cpp\n" + kernel + "```"), std::string::npos);
}

}  // namespace
}  // namespace attnbench::example
