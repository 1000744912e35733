// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/engine_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "lib/base/error.h"
#include "lib/result/testing/sample_run.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

Record cell(const char* backend, double median_us) {
  Record r = sample_run().records.front();
  r.model = "llama-3.1-8b";
  r.tp = 1;
  r.case_id = "decode";
  r.mode = "decode";
  r.backend = backend;
  r.timing.median_us = median_us;
  r.timing.lo_us = median_us * 0.999;
  r.timing.hi_us = median_us * 1.001;
  return r;
}

EngineSelection selection_with(std::vector<Record> records) {
  EngineSelection selection{"llama-3.1-8b", 1, {}, sample_run()};
  selection.setup.device = *find_engine_device("sm90");
  selection.setup.head_dim_qk = selection.setup.head_dim_v = 128;
  selection.measured->records = std::move(records);
  return selection;
}

std::string table_of(const EngineSelection& selection) {
  std::ostringstream out;
  write_selection_table(selection, out);
  return out.str();
}

TEST(EngineSelection, says_choice_reason_and_flags_of_each_engine) {
  EngineSelection selection = selection_with({});
  selection.measured.reset();
  const std::string table = table_of(selection);
  EXPECT_THAT(table, HasSubstr("llama-3.1-8b · tp 1 · sm90 · supposing CUDA 13.0 and flashinfer"));
  EXPECT_THAT(table,
              HasSubstr("\nSGLang 0.5.23  fa3\n  why    Hopper with CUDA 12.3 or later takes fa3"));
  EXPECT_THAT(table, HasSubstr("\nvLLM 0.33.0  FLASH_ATTN\n"));
  EXPECT_THAT(table, HasSubstr("\n  flags  --attention-backend FLASH_ATTN\n"));
  EXPECT_THAT(table, Not(HasSubstr("but")));
  EXPECT_THAT(table, Not(HasSubstr("measured")));
  selection.setup.topk = 4;
  EXPECT_THAT(table_of(selection), HasSubstr("\n  but    drafts with topk 1 only, not 4\n"));
}

TEST(EngineSelection, names_what_linear_layers_take_beside_it) {
  EngineSelection selection = selection_with({});
  selection.measured.reset();
  EXPECT_THAT(table_of(selection), Not(HasSubstr("beside")));
  selection.setup.linear = LinearAttentionKind::kGatedDeltaNet;
  const std::string table = table_of(selection);
  EXPECT_THAT(table, HasSubstr("\nSGLang 0.5.23  fa3\n"));
  EXPECT_THAT(table, HasSubstr("\n  beside triton (gated delta nets: the default of "
                               "--linear-attn-backend, in HybridLinearAttnBackend)\n"
                               "         --linear-attn-backend triton\n"));
  EXPECT_THAT(table, HasSubstr("\n  beside GDN_ATTN (gated delta nets: "));
  std::ostringstream out;
  write_selection_json(selection, out);
  const Json engines = Json::parse(out.str())["engines"];
  EXPECT_EQ(engines[0]["linear"]["flags"], "--linear-attn-backend triton");
  EXPECT_EQ(engines[1]["linear"]["backend"], "GDN_ATTN");
}

TEST(EngineSelection, compares_the_choices_with_the_fastest_correct_backend) {
  Record wrong = cell("too_good", 10);
  wrong.outcome = Incorrect{"3 NaN", true};
  Record other = cell("splitkv", 20);
  other.model = "qwen3-8b";
  Record write = cell("splitkv", 5);
  write.step = StepPart::kKvWrite;
  const std::string table =
      table_of(selection_with({write, cell("splitkv", 50), cell("vllm:fa3", 52), wrong, other}));
  EXPECT_THAT(table,
              HasSubstr("\nmeasured on Sample CPU, 2 cores x86-64 avx2\n  decode cold eager\n"
                        "    fastest correct: splitkv, 50.0 µs\n"
                        "    SGLang's choice: vllm:fa3, 1.04 of the best\n"
                        "    vLLM's choice: vllm:fa3, 1.04 of the best\n"));
  EXPECT_THAT(table_of(selection_with({cell("splitkv", 50)})),
              HasSubstr("    SGLang's choice: its kernel was not timed\n"));
  EXPECT_THAT(table_of(selection_with({wrong})), HasSubstr("    no backend was right and timed\n"));
}

TEST(EngineSelection, says_what_a_choice_gave_up_and_what_that_costs) {
  Record eager = cell("vllm:fa3", 60), graph = cell("vllm:fa3", 50);
  graph.launch = LaunchMode::kGraph;
  for (Record* const each : {&eager, &graph}) {
    each->engine_choice = {.sglang = "fa3",
                           .vllm = "FLASH_ATTN",
                           .vllm_instead_of = "FLASHINFER",
                           .vllm_graph = "no CUDA graph of chunked layers"};
  }
  const EngineSelection selection = selection_with({eager, graph});
  EXPECT_THAT(table_of(selection),
              HasSubstr("    SGLang's choice: vllm:fa3, 1.00 of the best\n"
                        "    vLLM's choice: vllm:fa3, 1.00 of the best; in place of FLASHINFER "
                        "without a CUDA graph (1.20 of its graph)\n"));
  std::ostringstream out;
  write_selection_json(selection, out);
  const Json measured = Json::parse(out.str())["measured"][0];
  EXPECT_EQ(measured["downgrade_of_sglang"], "");
  EXPECT_EQ(measured["downgrade_of_vllm"],
            "in place of FLASHINFER without a CUDA graph (1.20 of its graph)");
}

TEST(EngineSelection, says_which_models_results_have_where_the_asked_one_is_missing) {
  Record other = cell("splitkv", 20);
  other.tp = 4;
  try {
    static_cast<void>(table_of(selection_with({other})));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("no cell of llama-3.1-8b at tp 1"));
    EXPECT_THAT(error.what(), HasSubstr("they are of: llama-3.1-8b at tp 4"));
  }
}

TEST(EngineSelection, is_the_same_as_json) {
  std::ostringstream out;
  write_selection_json(selection_with({cell("splitkv", 50), cell("vllm:fa3", 52)}), out);
  const Json json = Json::parse(out.str());
  EXPECT_EQ(json["engines"][0]["backend"], "fa3");
  EXPECT_EQ(json["engines"][1]["flags"], "--attention-backend FLASH_ATTN");
  ASSERT_EQ(json["measured"].size(), 1u);
  EXPECT_EQ(json["measured"][0]["fastest"], "splitkv");
  EXPECT_EQ(json["measured"][0]["median_us"], 50.0);
  EXPECT_EQ(json["measured"][0]["cost_of_vllm"], "vllm:fa3, 1.04 of the best");
}

}  // namespace
}  // namespace attnbench
