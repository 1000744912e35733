// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/aiconfigurator.h"

#include <gtest/gtest.h>

#include <functional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

/// Four decodes of 1000 keys that took 40 us.
Record decode() {
  Record r;
  r.backend = "v33/vllm:fa3";
  r.environment.name = "v33";
  r.packages = "vllm==0.33.0 torch==2.14.0";
  r.device = "NVIDIA H200";
  r.mode = "decode";
  r.dtype = "bf16";
  r.layer.heads_q = 32;
  r.layer.heads_kv = 8;
  r.layer.head_dim_qk = r.layer.head_dim_v = 128;
  r.requests = r.q_tokens = 4;
  r.kv_tokens = 4000;
  r.q_len_max = 1;
  r.kv_len_max = 1000;
  r.cost.visible_pairs = 4000;
  r.cost.kv_bytes_unique = r.cost.kv_bytes_streamed = 4000 * 4096;
  r.launch = LaunchMode::kGraph;
  r.cache = CacheState::kWarm;
  r.outcome = Completed{Check::kPassed, Speed::kClaimed};
  r.timing.median_us = 40;
  return r;
}

/// Two prompts of 100 tokens.
Record prompt() {
  Record r = decode();
  r.mode = "extend";
  r.requests = 2;
  r.q_tokens = r.kv_tokens = 200;
  r.q_len_max = r.kv_len_max = 100;
  r.cost.visible_pairs = 2 * 5050;
  return r;
}

RunResult run_of(std::vector<Record> records) { return run_with_layers(std::move(records)); }

std::vector<std::string> rows_of(std::vector<Record> records) {
  std::ostringstream out;
  write_aiconfigurator(run_of(std::move(records)), out);
  std::istringstream lines(out.str());
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) rows.push_back(line);
  EXPECT_EQ(rows.at(0),
            "framework,version,device,op_name,kernel_source,batch_size,isl,num_heads,"
            "num_key_value_heads,head_dim,window_size,beam_width,attn_dtype,kv_cache_dtype,step,"
            "latency");
  rows.erase(rows.begin());
  return rows;
}

TEST(Aiconfigurator, has_a_row_of_a_decode_whose_step_is_the_keys_before_its_own) {
  EXPECT_EQ(rows_of({decode()}),
            (std::vector<std::string>{
                "VLLM,0.33.0,NVIDIA H200,generation_attention,vllm:fa3,4,1,32,8,128,0,1,bfloat16,"
                "bfloat16,999,0.04"}));
  EXPECT_EQ(left_out_of_aiconfigurator(run_of({decode()})), "");
}

TEST(Aiconfigurator, has_a_row_of_a_prompt_with_a_window_that_counts_its_own_key) {
  Record r = prompt();
  r.backend = "splitkv";
  r.packages = "";
  r.device = "GPU, of somebody";
  r.kv_cache.dtype = DType::kE4M3;
  r.layer.sliding_window_size = 9;
  r.cost.visible_pairs = 2 * (55 + 90 * 10);
  EXPECT_EQ(rows_of({r}),
            (std::vector<std::string>{
                "attnbench,0.1.0,\"GPU, of somebody\",context_attention,splitkv,2,100,32,8,128,10,"
                "1,bfloat16,fp8,0,0.04"}));
}

TEST(Aiconfigurator, says_why_a_cell_has_no_row) {
  struct Change {
    const char* reason;
    std::function<void(Record&)> change;
  };
  const Change changes[] = {
      {"without a time that passed",
       [](Record& r) {
         r.outcome = Incorrect{"wrong", true};
       }},
      {"without a time that passed",
       [](Record& r) {
         r.outcome = Completed{Check::kMistrusted, Speed::kClaimed};
       }},
      {"of steps without attention", [](Record& r) { r.step = StepPart::kKvWrite; }},
      {"of latent or recurrent layers", [](Record& r) { r.layer.family = Family::kLatent; }},
      {"of cross attention", [](Record& r) { r.layer.is_cross_attention = true; }},
      {"with sinks, ALiBi, a logit cap, a temperature or dual chunks",
       [](Record& r) { r.layer.has_sinks = true; }},
      {"whose keys and values differ in length", [](Record& r) { r.layer.head_dim_v = 64; }},
      {"of other types than bf16 and fp8 (e4m3, a scale a tensor, outputs in bf16)",
       [](Record& r) { r.dtype = "f16"; }},
      {"of other types than bf16 and fp8 (e4m3, a scale a tensor, outputs in bf16)",
       [](Record& r) {
         r.kv_cache.dtype = DType::kE4M3;
         r.kv_cache.scales = KvScales::kToken;
       }},
      {"that are neither prompts nor decodes", [](Record& r) { r.mode = "target_verify"; }},
      {"with padding", [](Record& r) { r.padding_requests = 4; }},
      {"of a file that does not say their longest lengths",
       [](Record& r) { r.q_len_max = r.kv_len_max = 0; }},
      {"whose requests differ in length", [](Record& r) { r.kv_len_max = 1003; }},
      {"of prompts behind a prefix", [](Record& r) { r.mode = "extend"; }},
      {"whose requests share a prefix", [](Record& r) { r.cost.kv_bytes_unique /= 2; }},
      {"with another mask than a causal one", [](Record& r) { r.cost.visible_pairs -= 1; }},
  };
  for (const Change& each : changes) {
    Record r = decode();
    each.change(r);
    EXPECT_EQ(left_out_of_aiconfigurator(run_of({decode(), r})),
              std::string("1 of 2 cells have a row; not the others: 1 ") + each.reason);
    EXPECT_TRUE(rows_of({r}).empty()) << each.reason;
  }
}

TEST(Aiconfigurator, has_one_row_a_key_which_is_nearest_to_what_the_collectors_time) {
  Record cold = decode(), eager = decode(), write = decode(), other = decode();
  cold.cache = CacheState::kCold;
  eager.launch = LaunchMode::kEager;
  write.step = StepPart::kBoth;
  write.timing.median_us = 50;
  other.packages = "vllm==0.22.0";
  const std::vector<std::string> rows = rows_of({cold, eager, write, decode(), other});
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_TRUE(rows[0].ends_with(",0.05")) << rows[0];
  EXPECT_TRUE(rows[1].starts_with("VLLM,0.22.0,")) << rows[1];
  EXPECT_EQ(left_out_of_aiconfigurator(run_of({cold, eager, write, decode(), other})),
            "2 of 5 cells have a row; not the others: 3 of a key that has its row");
}

}  // namespace
}  // namespace attnbench
