// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "apps/attnbench/testing/command_line.h"
#include "lib/gate/testing/measured_run.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

class ReportCommandLine : public CommandLine {
 protected:
  int report(const std::vector<std::string>& words) { return run("report", words); }

  /// Writes a result of two backends to a file of this name.
  std::string write(const std::string& name, double splitkv_us = 100) {
    std::ofstream file(folder_ + name);
    write_json(measured_run({measured_cell("decode/ps16", "splitkv", splitkv_us),
                             measured_cell("decode/ps16", "paged_fa", 200)}),
               file);
    return folder_ + name;
  }

  std::string written() {
    std::ifstream file(page_);
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
  }

  std::string page_ = folder_ + "report.html";
};

TEST_F(ReportCommandLine, writes_one_page) {
  EXPECT_EQ(report({write("a.json"), "-o", page_}), 0) << err_.str();
  EXPECT_EQ(out_.str() + err_.str(), "");
  EXPECT_TRUE(written().starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(written().ends_with("</html>\n"));
  EXPECT_THAT(written(), HasSubstr("\"comparison\":null"));
  EXPECT_EQ(report({write("a.json"), "-o", "-"}), 0);
  EXPECT_EQ(out_.str(), written());
}

TEST_F(ReportCommandLine, compares_two_files_and_names_them) {
  EXPECT_EQ(report({write("a.json"), write("b.json", 150), "-o", page_}), 0) << err_.str();
  EXPECT_THAT(written(), HasSubstr("\"base\":\"a.json\",\"new\":\"b.json\""));
  EXPECT_THAT(written(), HasSubstr("\"values\":[\"SUSPECT\""));
  EXPECT_EQ(report({write("a.json"), write("b.json", 150), "--trust-sequential", "-o", page_}), 0);
  EXPECT_THAT(written(), HasSubstr("\"values\":[\"REGRESSED\""));
}

TEST_F(ReportCommandLine, compares_two_backends_of_one_file) {
  const std::string one = write("a.json");
  EXPECT_EQ(report({one, "--base", "splitkv", "--new", "paged_fa", "-o", page_}), 0);
  EXPECT_THAT(written(), HasSubstr("\"base\":\"splitkv\",\"new\":\"paged_fa\""));
  EXPECT_EQ(report({one, "--base", "splitkv", "-o", page_}), 4);
  EXPECT_EQ(report({one, one, "--base", "splitkv", "--new", "paged_fa", "-o", page_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("two backends of one file, found 2 files"));
  EXPECT_EQ(report({one, "--base", "splitkv", "--new", "paged", "-o", page_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'paged_fa'?"));
}

TEST_F(ReportCommandLine, shows_the_backends_that_are_named) {
  const std::string one = write("a.json");
  EXPECT_EQ(report({one, "--backend", "paged_*", "-o", page_}), 0) << err_.str();
  EXPECT_THAT(written(), HasSubstr("\"paged_fa\""));
  EXPECT_THAT(written(), Not(HasSubstr("\"splitkv\"")));
  EXPECT_EQ(report({one, "--backend", "splitkv,paged_fb", "-o", page_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("--backend paged_fb: the results have no such backend"));
  EXPECT_THAT(err_.str(), HasSubstr("did you mean 'paged_fa'?"));
}

TEST_F(ReportCommandLine, shows_more_files_without_a_comparison) {
  EXPECT_EQ(report({write("a.json"), write("b.json"), write("c.json"), "-o", page_}), 0);
  EXPECT_THAT(written(), HasSubstr("\"comparison\":null"));
}

TEST_F(ReportCommandLine, refuses_limits_that_would_judge_nothing) {
  EXPECT_EQ(report({write("a.json"), "--trust-sequential", "-o", page_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("judge a comparison"));
}

TEST_F(ReportCommandLine, says_what_is_wrong_with_a_file) {
  const std::string one = write("a.json");
  EXPECT_EQ(report({one}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("--output is required"));
  EXPECT_EQ(report({"-o", page_}), 4);
  EXPECT_EQ(report({folder_ + "none.json", "-o", page_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("none.json"));
  EXPECT_EQ(report({one, "-o", one}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("would overwrite what is read"));
  EXPECT_FALSE(std::filesystem::exists(page_));
}

TEST_F(ReportCommandLine, a_page_that_cannot_be_written_is_an_error) {
  const std::string one = write("a.json");
  EXPECT_EQ(report({one, "-o", "/no/such/folder/x.html"}), 5);
  EXPECT_EQ(report({one, "--format", "html", "-o", "/dev/full"}), 5);
  EXPECT_THAT(err_.str(), HasSubstr("/dev/full: No space left on device"));
  EXPECT_EQ(report({one, "--format", "html", "-o", folder_}), 5);
}

TEST_F(ReportCommandLine, writes_a_single_plot) {
  Record record = measured_cell("decode/ps16", "splitkv", 100);
  record.requests = 4;
  record.kv_tokens = 4096;
  record.cost.flops = 3'000'000'000;
  record.cost.bytes_unique = 200'000'000;
  std::ofstream file(folder_ + "r.json");
  write_json(measured_run({record}), file);
  file.close();
  page_ = folder_ + "plot.svg";
  EXPECT_EQ(report({folder_ + "r.json", "-o", page_}), 0) << err_.str();
  EXPECT_THAT(written(), HasSubstr("FLOP per byte"));
  EXPECT_EQ(report({folder_ + "r.json", "--plot", "latency", "-o", page_}), 0) << err_.str();
  EXPECT_THAT(written(), HasSubstr("keys of a request"));
  EXPECT_EQ(report({folder_ + "r.json", "--format", "svg", "-o", "-"}), 0);
  EXPECT_TRUE(out_.str().starts_with("<svg"));
  EXPECT_EQ(report({folder_ + "r.json", "--plot", "latency", "-o", folder_ + "r.html"}), 4);
  EXPECT_EQ(report({folder_ + "r.json", "--allow", "driver", "-o", page_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("has no comparison"));
  EXPECT_EQ(report({folder_ + "r.json", "-o", folder_ + "r.jpg"}), 4);
  EXPECT_THAT(err_.str(), HasSubstr(".html .svg .png"));
  EXPECT_EQ(report({write("a.json"), "-o", page_}), 4);
  EXPECT_THAT(err_.str(), HasSubstr("no cell has a place on the roofline plot"));
}

TEST_F(ReportCommandLine, names_the_package_that_a_png_takes) {
  const std::string path = std::getenv("PATH");
  setenv("PATH", folder_.c_str(), 1);
  Record record = measured_cell("decode", "splitkv", 100);
  record.cost.flops = record.cost.bytes_unique = 1000;
  std::ofstream file(folder_ + "r.json");
  write_json(measured_run({record}), file);
  file.close();
  const int code = report({folder_ + "r.json", "-o", folder_ + "plot.png"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(code, 5);
  EXPECT_THAT(err_.str(), HasSubstr("apt-get install librsvg2-bin"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "plot.png"));
}

}  // namespace
}  // namespace attnbench
