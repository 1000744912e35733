// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/gate_sinks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "lib/gate/testing/measured_run.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

GateReport report_of(const std::string& backend, const std::string& reason = "3 NaN") {
  Record same = measured_cell("decode/ps16", "steady", 100);
  Record base = measured_cell("decode/ps16", backend, 500), slower = base;
  for (double* us : {&slower.timing.median_us, &slower.timing.lo_us, &slower.timing.hi_us}) {
    *us *= 1.062;
  }
  Record wrong = measured_cell("mla", backend, 10);
  wrong.outcome = Incorrect{reason, true};
  GateReport report = compare_runs(measured_run({same, base, measured_cell("mla", backend, 10)}),
                                   measured_run({same, slower, wrong}), {.trust_sequential = true});
  report.base = "main.json";
  report.now = "branch.json";
  return report;
}

std::string terminal_text(const GateReport& report, const GateTerminalOptions& options = {}) {
  std::ostringstream out;
  write_gate_terminal(report, options, out);
  return out.str();
}

std::string markdown_text(const GateReport& report) {
  std::ostringstream out;
  write_gate_markdown(report, out);
  return out.str();
}

std::string github_text(const GateReport& report) {
  std::ostringstream out;
  write_gate_github(report, out);
  return out.str();
}

std::string junit_text(const GateReport& report, bool strict) {
  std::ostringstream out;
  write_gate_junit(report, strict, out);
  return out.str();
}

TEST(GateTerminal, shows_what_changed_and_counts_the_rest) {
  const std::string text = terminal_text(report_of("paged_fa"), {.exit_code = 2});
  EXPECT_THAT(text, HasSubstr("paged_fa  decode/ps16  cold  500 µs → 531 µs  +6.2 %  "
                              "(+5.4 … +7.1 %)  REGRESSED\n    allowed 2 %\n"));
  EXPECT_THAT(text, HasSubstr("INCORRECT\n    INCORRECT: 3 NaN\n      attnbench run"));
  EXPECT_THAT(
      text, HasSubstr("1 incorrect · 1 regressed · 0 missing · 1 the same within 0.0 % · exit 2"));
  EXPECT_THAT(text,
              HasSubstr("\n(base → new, change, and in brackets what the two 95 % intervals"));
  EXPECT_THAT(text, Not(HasSubstr("steady")));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(terminal_text(report_of("paged_fa"), {.colour = true}), HasSubstr("\x1b[31mREGR"));
}

TEST(GateTerminal, lists_the_most_harmful_and_counts_the_others) {
  GateReport report = report_of("paged_fa");
  while (report.cells.size() < 1500)
    report.cells.insert(report.cells.begin(), report.cells.front());
  const std::string text = terminal_text(report, {.exit_code = 2});
  EXPECT_THAT(text, HasSubstr(" more, which --json lists\n"));
  EXPECT_LT(std::ranges::count(text, '\n'), 5000);
  EXPECT_THAT(markdown_text(report), HasSubstr(" more, which the JSON lists\n"));
}

TEST(GateTerminal, says_how_to_confirm_suspects_alone) {
  const std::string line = "attnbench ab --base … --new … serving.yaml";
  GateReport report = report_of("paged_fa");
  EXPECT_THAT(terminal_text(report, {.next_step = line}), Not(HasSubstr("to confirm")));
  report.cells[1].judgement.verdict = GateVerdict::kSuspect;
  EXPECT_THAT(terminal_text(report, {.next_step = line}), HasSubstr("to confirm: " + line));
}

constexpr const char* kHostile =
    "x|y`<img src=x>[a](http://e.vil) @team #1 www.e.vil **b** ~~\n::error::no\n##[add-path]/x";

TEST(GateMarkdown, sorts_by_harm_and_ends_with_lines_that_repeat_the_cells) {
  const std::string text = markdown_text(report_of("splitkv"));
  const std::size_t wrong = text.find("**INCORRECT**"), slow = text.find("**REGRESSED**"),
                    lines = text.find("<pre>");
  EXPECT_LT(wrong, slow);
  EXPECT_LT(slow, lines);
  ASSERT_NE(lines, std::string::npos) << text;
  EXPECT_THAT(text, HasSubstr("| 500 µs → 531 µs | +6.2 % | (+5.4 … +7.1 %) |"));
  EXPECT_THAT(text, HasSubstr("attnbench run serving&#46;yaml &#45;&#45;case mla"));
}

TEST(GateMarkdown, lets_no_name_become_markup_a_link_or_a_mention) {
  const std::string text = markdown_text(report_of(kHostile, kHostile));
  for (const char* live :
       {"<img", "](http", "www.e", "@team", "#1 ", "**b", "~~", "`", "\n::", "##[", "x|y"}) {
    EXPECT_THAT(text, Not(HasSubstr(live)));
  }
  // Every line of the table has its eight cells.
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('|')) continue;
    EXPECT_EQ(std::ranges::count(line, '|'), 9) << line;
  }
}

TEST(GateGithub, writes_one_command_a_harmful_cell_whatever_the_names_are) {
  const std::string text = github_text(report_of(kHostile, "100 %\r\n::error::no"));
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_TRUE(line.starts_with("::error file=serving.yaml,title=attnbench ")) << line;
    EXPECT_EQ(line.find('\r'), std::string::npos);
  }
  EXPECT_EQ(count, 2);
  EXPECT_THAT(text, HasSubstr("100 %25"));
  EXPECT_THAT(text, HasSubstr("%0A"));
}

TEST(GateGithub, warns_of_what_may_be_a_fault) {
  GateReport report = report_of("splitkv");
  report.cells[0].judgement = {GateVerdict::kInconclusive, "", Doubt::kClock};
  report.scenarios[0].path = "a,b:c%.yaml";
  EXPECT_THAT(github_text(report), HasSubstr("::warning file=a%2Cb%3Ac%25.yaml,"
                                             "title=attnbench INCONCLUSIVE(clock)::splitkv mla"));
  report.cells[0].allowed_because = "known";
  EXPECT_THAT(github_text(report), Not(HasSubstr("::warning")));
}

TEST(GateTerminal, gives_a_ci_runner_no_command_to_obey) {
  const std::string text = terminal_text(report_of("::add-path::/x\n##[group]", "::error::y"));
  EXPECT_THAT(text, testing::Not(testing::ContainsRegex("(^|\n) *::|##\\[")));
  GateReport report = report_of("splitkv");
  for (std::size_t length = 80; length < 120; ++length) {  // some of these are broken at the colons
    report.remarks.push_back(std::string(length, 'x') + "::error::y");
    report.remarks.push_back(std::string(length, 'x') + " :::error::y");
    report.remarks.push_back(std::string(length, 'x') + " \u00a0::error::y");
  }
  EXPECT_THAT(terminal_text(report), testing::Not(testing::ContainsRegex("\n(\u00a0| )*::")));
}

TEST(GateTerminal, leaves_names_as_they_are) {
  GateReport report = report_of("splitkv");
  report.remarks = {"another kernel: flash_attn::fwd in the base"};
  EXPECT_THAT(terminal_text(report), HasSubstr("flash_attn::fwd in the base"));
}

TEST(GateJunit, fails_for_harm_and_when_strict_for_doubt) {
  GateReport report = report_of("a\"<b>&");
  std::string text = junit_text(report, false);
  EXPECT_THAT(text, HasSubstr("tests=\"3\" failures=\"2\" errors=\"0\" skipped=\"0\""));
  EXPECT_THAT(text, HasSubstr("a&quot;&lt;b&gt;&amp;"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
  report.cells[0].judgement.verdict = GateVerdict::kSuspect;
  EXPECT_THAT(junit_text(report, false), HasSubstr("failures=\"1\" errors=\"0\" skipped=\"1\""));
  EXPECT_THAT(junit_text(report, true), HasSubstr("failures=\"2\" errors=\"0\" skipped=\"0\""));
}

TEST(GateJson, holds_every_cell_with_its_verdict) {
  std::ostringstream out;
  GateReport report = report_of("splitkv");
  report.cells[1].new_kernel = "fwd";
  write_gate_json(report, 2, out);
  const Json json = Json::parse(out.str());
  EXPECT_EQ(json["exit_code"], 2);
  ASSERT_EQ(json["cells"].size(), 3u);
  EXPECT_EQ(json["cells"][1]["verdict"], "REGRESSED");
  EXPECT_EQ(json["cells"][1]["base_kernel"], "");
  EXPECT_EQ(json["cells"][1]["new_kernel"], "fwd");
  EXPECT_NEAR(json["cells"][1]["speed"]["ratio"]["median"].get<double>(), 1.062, 1e-9);
  EXPECT_EQ(json["cells"][2]["verdict"], "SAME");
}

}  // namespace
}  // namespace attnbench
