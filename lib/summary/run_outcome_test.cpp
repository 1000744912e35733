// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/run_outcome.h"

#include <gtest/gtest.h>

#include <csignal>

namespace attnbench {
namespace {

Record good() {
  Record record;
  record.outcome = Completed{Check::kPassed, Speed::kClaimed};
  record.timing.status = MeasureStatus::kConverged;
  return record;
}

RunResult run_with(std::vector<Record> records) {
  RunResult run;
  run.records = std::move(records);
  return run;
}

TEST(RunOutcome, is_0_when_every_cell_is_right) {
  EXPECT_EQ(judge_run(run_with({good()}), {}).exit_code, 0);
}

TEST(RunOutcome, is_2_when_a_cell_is_wrong_whatever_else_happened) {
  Record wrong = good();
  wrong.outcome = Incorrect{"wrong", true};
  EXPECT_EQ(
      judge_run(run_with({good(), wrong}), {.outputs_written = false, .signal = SIGINT}).exit_code,
      2);
}

TEST(RunOutcome, is_3_when_a_requirement_was_left_unchecked) {
  const RunOutcome outcome = judge_run(run_with({good()}), {.requirement_unchecked = true});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.message, "--no-verify: verify: {batch_invariant: required} was not checked");
}

TEST(RunOutcome, is_2_when_a_backend_crashed_or_beats_the_machine) {
  Record crashed;
  crashed.outcome = Crashed{"threw"};
  EXPECT_EQ(judge_run(run_with({crashed}), {}).exit_code, 2);
  Record impossible = good();
  impossible.outcome = Completed{Check::kPassed, Speed::kImpossible};
  EXPECT_EQ(judge_run(run_with({impossible}), {}).exit_code, 2);
}

TEST(RunOutcome, is_3_for_a_noisy_cell_only_when_strict) {
  Record noisy = good();
  noisy.timing.status = MeasureStatus::kNoisy;
  EXPECT_EQ(judge_run(run_with({noisy}), {}).exit_code, 0);
  EXPECT_EQ(judge_run(run_with({noisy}), {.strict = true}).exit_code, 3);
}

TEST(RunOutcome, is_3_for_a_mistrusted_or_skipped_cell_when_strict) {
  Record mistrusted = good();
  mistrusted.outcome = Completed{Check::kMistrusted, Speed::kClaimed};
  EXPECT_EQ(judge_run(run_with({mistrusted}), {.strict = true}).exit_code, 3);
  Record skipped;
  skipped.outcome = Skipped{"interrupted"};
  EXPECT_EQ(judge_run(run_with({good(), skipped}), {.strict = true}).exit_code, 3);
}

TEST(RunOutcome, is_4_when_nothing_was_measured) {
  Record unsupported;
  unsupported.outcome = Unsupported{"decode only"};
  EXPECT_EQ(judge_run(run_with({unsupported}), {}).exit_code, 4);
  EXPECT_EQ(judge_run(run_with({}), {}).exit_code, 4);
}

TEST(RunOutcome, is_70_when_attnbench_failed_in_a_case_and_names_it) {
  Record lost;
  lost.case_id = "bad";
  lost.backend = "cpu_flash";
  lost.outcome = Skipped{"attnbench itself failed: lost count", HarnessError::kDefect};
  const RunOutcome outcome = judge_run(run_with({good(), lost}), {});
  EXPECT_EQ(outcome.exit_code, 70);
  EXPECT_NE(outcome.message.find("bad, cpu_flash: attnbench itself failed: lost count"),
            std::string::npos)
      << outcome.message;
  Record wrong = good();
  wrong.outcome = Incorrect{"wrong", true};
  EXPECT_EQ(judge_run(run_with({wrong, lost}), {}).exit_code, 2);
}

TEST(RunOutcome, is_5_when_the_machine_could_do_nothing_of_it) {
  Record no_memory;
  no_memory.outcome = Skipped{"out of memory", HarnessError::kEnvironment};
  EXPECT_EQ(judge_run(run_with({no_memory}), {}).exit_code, 5);
  EXPECT_EQ(judge_run(run_with({good(), no_memory}), {}).exit_code, 0);
}

TEST(RunOutcome, is_5_when_results_could_not_be_written) {
  EXPECT_EQ(judge_run(run_with({good()}), {.outputs_written = false}).exit_code, 5);
}

TEST(RunOutcome, is_128_plus_the_signal_and_says_what_was_kept) {
  Record skipped;
  skipped.outcome = Skipped{"interrupted"};
  const RunOutcome outcome = judge_run(run_with({good(), skipped}), {.signal = SIGINT});
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_EQ(outcome.message, "stopped by signal 2: 1 of 2 cells were measured and are kept");
}

TEST(RunOutcome, is_5_when_standard_output_takes_nothing_or_a_scenario_could_not_begin) {
  EXPECT_EQ(judge_run(run_with({good()}), {.output_failed = true}).exit_code, 5);
  const RunOutcome outcome = judge_run(run_with({good()}), {.failure = "no GPU 3"});
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_EQ(outcome.message, "error: no GPU 3: 1 of 1 cells were measured and are kept");
}

TEST(RunOutcome, names_each_reason_once_when_nothing_was_measured) {
  Record refused;
  refused.outcome = Unsupported{"decode only"};
  refused.backend = "a";
  Record other = refused;
  other.backend = "b";
  EXPECT_EQ(judge_run(run_with({refused, refused, other}), {}).message,
            "error: nothing was measured\n   a, b: decode only");
}

TEST(RunOutcome, treats_a_closed_pipe_as_the_signal_it_would_have_been) {
  EXPECT_EQ(judge_run(run_with({good()}), {.output_closed = true}).exit_code, 141);
}

}  // namespace
}  // namespace attnbench
