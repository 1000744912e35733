// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <sstream>

#include "lib/result/sinks.h"
#include "lib/result/testing/golden.h"
#include "lib/result/testing/sample_run.h"
#include "lib/summary/markdown_sink.h"
#include "lib/summary/terminal.h"

namespace attnbench {
namespace {

using Sink = void (*)(const RunResult&, std::ostream&);

std::string written_by(Sink write) {
  std::ostringstream out;
  write(sample_run(), out);
  return out.str();
}

std::string terminal_text(TerminalOptions options) {
  std::ostringstream out;
  const RunResult run = sample_run();
  const Scenario scenario = sample_scenario();
  TerminalReport report(out, options);
  report.started(run, scenario);
  for (const Case& c : scenario.cases) {
    report.case_started(c, run.records[0].cost);
    for (const Record& record : run.records) {
      if (record.case_id == c.id) report.record(record);
    }
    report.case_finished(c);
  }
  report.finished(run, {.exit_code = 2});
  return out.str();
}

/// Whole outputs are kept beside the test.
void expect_kept(const std::string& name, const std::string& text) {
  expect_golden("lib/summary/testdata/" + name, text);
}

TEST(Golden, json) { expect_kept("sample.json", written_by(write_json)); }
TEST(Golden, csv) { expect_kept("sample.csv", written_by(write_csv)); }
TEST(Golden, markdown) { expect_kept("sample.md", written_by(write_markdown)); }
TEST(Golden, junit) { expect_kept("sample.xml", written_by(write_junit)); }
TEST(Golden, google_benchmark) {
  expect_kept("sample.gbench.json", written_by(write_google_benchmark_json));
}
TEST(Golden, terminal) { expect_kept("terminal.txt", terminal_text({})); }
TEST(Golden, terminal_in_colour) {
  expect_kept("terminal_colour.txt", terminal_text({.colour = true}));
}
TEST(Golden, terminal_wide) { expect_kept("terminal_wide.txt", terminal_text({.wide = true})); }
TEST(Golden, terminal_quiet) { expect_kept("terminal_quiet.txt", terminal_text({.quiet = true})); }

}  // namespace
}  // namespace attnbench
