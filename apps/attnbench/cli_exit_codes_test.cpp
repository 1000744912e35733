// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Every exit code once, through the whole command line, with backends that behave as the code
// demands.
#include <gtest/gtest.h>

#include <fstream>
#include <ios>
#include <memory>
#include <string>

#include "apps/attnbench/command.h"
#include "apps/attnbench/testing/command_line.h"
#include "lib/backend/testing/stub_backend.h"
#include "lib/base/error.h"

namespace attnbench {
namespace {

/// Leaves the outputs as they were: poisoned.
class LazyBackend : public StubBackend {
 public:
  LazyBackend() : StubBackend("lazy") {
    info_.version = "1";
    info_.description = "writes nothing";
    info_.index_format = "none";
  }
};

TEST_F(CommandLine, exits_0_after_a_run_that_found_nothing_wrong) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick"}), 0) << out_.str() << err_.str();
  EXPECT_NE(out_.str().find("torch_native"), std::string::npos);
  EXPECT_NE(out_.str().find("passed"), std::string::npos);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CommandLine, exits_2_when_a_backend_writes_nothing) {
  registry_.add([] { return std::make_unique<LazyBackend>(); });
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--backend", "lazy"}), 2) << out_.str();
  EXPECT_NE(out_.str().find("INCORRECT"), std::string::npos);
  EXPECT_NE(out_.str().find("attnbench run " + scenario_), std::string::npos) << "no repro line";
}

TEST_F(CommandLine, exits_3_when_strict_and_a_smoke_test_cannot_converge) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--strict", "--backend", "torch_native"}), 3)
      << out_.str() << err_.str();
}

TEST_F(CommandLine, exits_4_when_the_scenario_is_wrong_or_missing) {
  std::ofstream(scenario_) << "mixes: {a: {batch: 0q1s1k}}\n";
  EXPECT_EQ(run({"run", scenario_.c_str()}), 4);
  EXPECT_NE(err_.str().find(scenario_ + ":1:"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", "/no/such/file.yaml"}), 4);
  EXPECT_NE(err_.str().find("/no/such/file.yaml"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, exits_4_when_no_case_or_backend_matches) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--case", "tny"}), 4);
  EXPECT_NE(err_.str().find("tiny"), std::string::npos) << err_.str();
  EXPECT_EQ(run({"run", scenario_.c_str(), "--backend", "cpu_flsh"}), 4);
  EXPECT_NE(err_.str().find("cpu_flash"), std::string::npos) << err_.str();
}

TEST_F(CommandLine, exits_4_when_the_only_backend_asked_for_is_absent) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--backend", "elsewhere"}), 4) << err_.str();
}

TEST_F(CommandLine, says_why_nothing_was_measured) {
  EXPECT_EQ(
      run({"run", scenario_.c_str(), "--quick", "--backend", "torch_native", "--launch", "graph"}),
      4);
  EXPECT_NE(err_.str().find("torch_native: no CUDA graph on a CPU"), std::string::npos)
      << err_.str();
}

TEST_F(CommandLine, exits_5_when_standard_output_takes_nothing) {
  for (const char* command : {"list", "expand", "--help"}) {
    std::ofstream full("/dev/full");
    Console console{full, err_};
    const char* const arguments[] = {"attnbench", command,
                                     command[0] == 'l' ? "models" : scenario_.c_str()};
    EXPECT_EQ(run_command_line(3, arguments, registry_, console), 5) << command;
    EXPECT_NE(err_.str().find("cannot write standard output"), std::string::npos) << err_.str();
  }
}

TEST_F(CommandLine, exits_141_when_the_reader_of_standard_output_is_gone) {
  out_.setstate(std::ios::badbit);
  Console console{.out = out_, .err = err_, .out_reader_is_gone = [] { return true; }};
  const char* const arguments[] = {"attnbench", "list", "models"};
  EXPECT_EQ(run_command_line(3, arguments, registry_, console), 141);
}

TEST_F(CommandLine, exits_70_on_a_defect_of_its_own) {
  registry_.add([]() -> std::unique_ptr<Backend> {
    static int made = 0;
    if (made++ == 0) return std::make_unique<LazyBackend>();
    throw InternalError("the factory forgot how");
  });
  EXPECT_EQ(run({"support", scenario_.c_str()}), 70) << out_.str();
  EXPECT_NE(err_.str().find("the factory forgot how"), std::string::npos);
}

TEST_F(CommandLine, documents_every_exit_code_in_its_help) {
  EXPECT_EQ(run({"--help"}), 0);
  for (const char* code : {"  0 ", "  1 ", "  2 ", "  3 ", "  4 ", "  5 ", "  70 ", "  128+n "}) {
    EXPECT_NE(out_.str().find(code), std::string::npos) << code;
  }
}

TEST_F(CommandLine, names_the_gpu_that_it_cannot_use) {
  EXPECT_EQ(run({"run", scenario_.c_str(), "--quick", "--device", "1023"}), 5);
  EXPECT_NE(err_.str().find("1023: "), std::string::npos) << err_.str();
}

}  // namespace
}  // namespace attnbench
