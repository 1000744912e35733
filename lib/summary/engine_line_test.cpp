// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/engine_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "lib/result/testing/sample_run.h"
#include "lib/summary/terminal.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

Record decode_of(const char* backend, double median_us, CacheState cache = CacheState::kCold) {
  Record r = sample_run().records.front();
  r.backend = backend;
  r.cache = cache;
  r.mode = "decode";
  r.timing.median_us = median_us;
  r.timing.lo_us = median_us * 0.999;
  r.timing.hi_us = median_us * 1.001;
  r.engine_choice = {"fa3", "FLASH_ATTN"};
  return r;
}

std::string line_of(const std::vector<Record>& records) {
  return engine_line(records, rankings(records), 90);
}

TEST(EngineLine, says_what_each_engine_would_take) {
  EXPECT_EQ(line_of({decode_of("splitkv", 50)}), "SGLang would take fa3, vLLM FLASH_ATTN");
  EXPECT_EQ(line_of({}), "");
}

TEST(EngineLine, says_what_the_choice_costs_where_its_kernel_was_timed) {
  EXPECT_EQ(line_of({decode_of("splitkv", 50), decode_of("vllm:fa3", 52)}),
            "SGLang would take fa3 (vllm:fa3, 1.04 of the best), "
            "vLLM FLASH_ATTN (vllm:fa3, 1.04 of the best)");
  EXPECT_EQ(line_of({decode_of("fa3:tokenspeed", 50), decode_of("vllm:fa3", 52)}),
            "SGLang would take fa3 (fa3:tokenspeed, 1.00 of the best), "
            "vLLM FLASH_ATTN (vllm:fa3, 1.04 of the best)");
}

TEST(EngineLine, gives_the_least_and_the_most_where_cells_differ) {
  EXPECT_THAT(line_of({decode_of("splitkv", 50), decode_of("splitkv", 40, CacheState::kWarm),
                       decode_of("vllm:fa3", 52), decode_of("vllm:fa3", 52, CacheState::kWarm)}),
              HasSubstr("vLLM FLASH_ATTN (vllm:fa3, 1.04 to 1.30 of the best)"));
}

TEST(EngineLine, says_what_another_kernel_and_a_lost_graph_cost) {
  std::vector<Record> records = {decode_of("vllm:fa3", 50), decode_of("flashinfer:decode_tc", 60),
                                 decode_of("flashinfer:decode_tc", 48)};
  records[2].launch = LaunchMode::kGraph;
  for (Record& r : records) {
    r.engine_choice = {.vllm = "FLASHINFER", .vllm_instead_of = "FLASH_ATTN"};
    r.engine_choice.vllm_graph = "no CUDA graph of such a step";
    r.layer.heads_q = 32;
    r.layer.heads_kv = 8;
  }
  EXPECT_THAT(line_of(records), HasSubstr(" in place of FLASH_ATTN (1.20 of vllm:fa3)"
                                          " without a CUDA graph (1.25 of its graph)"));
  records.resize(1);
  EXPECT_THAT(line_of(records), HasSubstr("FLASHINFER in place of FLASH_ATTN without a CUDA graph"))
      << "whose kernel was not timed";
}

TEST(EngineLine, claims_no_cost_of_a_kernel_that_is_wrong) {
  Record wrong = decode_of("vllm:fa3", 52);
  wrong.outcome = Incorrect{"3 NaN", true};
  EXPECT_EQ(line_of({decode_of("splitkv", 50), wrong}), "SGLang would take fa3, vLLM FLASH_ATTN");
}

TEST(EngineLine, leaves_out_an_engine_whose_rule_is_not_known) {
  Record record = decode_of("splitkv", 50);
  record.engine_choice.vllm.clear();
  EXPECT_EQ(line_of({record}), "SGLang would take fa3");
  record.engine_choice = {"", "FLASH_ATTN"};
  EXPECT_EQ(line_of({record}), "vLLM would take FLASH_ATTN");
  record.engine_choice = {};
  EXPECT_EQ(line_of({record}), "");
}

TEST(EngineLine, stands_above_the_cases_table_where_a_gpu_takes_part) {
  const auto printed = [](DeviceKind kind, Record record) {
    std::ostringstream out;
    RunResult run = sample_run();
    run.devices[0].device.kind = kind;
    run.devices[0].device.arch = "sm_90";
    TerminalReport report(out, {});
    const Scenario scenario = sample_scenario();
    report.started(run, scenario);
    report.case_started(scenario.cases[0], record.cost);
    report.record(record);
    report.case_finished(scenario.cases[0]);
    return out.str();
  };
  Record record = decode_of("vllm:fa3", 50);
  EXPECT_THAT(printed(DeviceKind::kCuda, record),
              HasSubstr("\n    SGLang would take fa3 (vllm:fa3, 1.00 of the best), vLLM FLASH_ATTN "
                        "(vllm:fa3, 1.00 of the best)\n  backend"));
  record.engine_choice = {};
  EXPECT_THAT(printed(DeviceKind::kCpu, record), Not(HasSubstr("would take")));
}

}  // namespace
}  // namespace attnbench
