// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/testing/sample_run.h"

#include <limits>

#include "lib/result/record_text.h"

namespace attnbench {
namespace {

constexpr const char* kName = "sample \"quoted\", <marked> & piped|";

Record blank(const char* case_id, const char* backend) {
  Record r;
  r.scenario = kName;
  r.tp = 4;
  r.layer.scale = 0.08838834764831845;
  r.kv_cache = {.page_size = 16, .layout = KvLayout::kNhd, .dtype = DType::kE4M3, .k_scale = 0.1f};
  r.case_id = case_id;
  r.mix = "prefix_hits";
  r.model = "llama-3.1-8b";
  r.backend = backend;
  r.backend_version = "0.1.0";
  r.device = "Sample CPU, 2 cores";
  r.mode = "mixed";
  r.dtype = "bf16";
  r.layer.heads_q = 32;
  r.layer.heads_kv = 8;
  r.layer.head_dim_qk = 128;
  r.layer.head_dim_v = 128;
  r.requests = 26;
  r.q_tokens = 624;
  r.kv_tokens = 98304;
  r.q_len_max = 512;
  r.kv_len_max = 4096;
  r.use_cascade = {"yes", "FlashDecoding needs single queries"};
  r.cost = {9876543, 161817280512, 187000000, 201000000, 186000000, 200000000};
  r.fixture_hash = "0123456789abcdef";
  return r;
}

Record timed(Record r, double median_us) {
  r.timing.status = MeasureStatus::kConverged;
  r.outcome = Completed{Check::kPassed, Speed::kClaimed};
  r.timing.median_us = median_us;
  r.timing.lo_us = median_us * 0.997;
  r.timing.hi_us = median_us * 1.003;
  r.timing.q1_us = median_us * 0.99;
  r.timing.q3_us = median_us * 1.02;
  r.timing.min_us = median_us * 0.98;
  r.timing.max_us = median_us * 1.5;
  r.timing.rounds = 12;
  r.timing.samples = 240;
  r.samples_checked = 5;
  r.declared = {.qk_input = "bf16",
                .p = "bf16",
                .accumulator = "f32",
                .partial_out = "f32",
                .partial_roundings = 1,
                .lse = true};
  r.plan = {12.25, 40.0 / 3};
  r.roofline = 0.774;
  r.error = {1.0 / 3, 0.0125, 1e-9, 0.21, 0.9, 1e-7, 0.125, 512, 0, "needle", {}};
  r.error.worst = {3, "chat", 0, 12, 77, 127, 0.5, 0.25};
  r.bitwise = {1, 1, 0};
  return r;
}

}  // namespace

RunResult sample_run() {
  RunResult run;
  run.environment = {
      "0.1.0",
      "3f2c1a9",
      "Release",
      "GNU 12.2.0",
      "-O2",
      "Debian GNU/Linux 12",
      "00ff00ff00ff",
      {DeviceKind::kCpu, "Sample CPU, 2 cores", "x86-64 avx2", 2, 33554432, std::int64_t{8} << 30},
      2,
      "2026-01-02T03:04:05Z"};
  run.ceilings = {21.3e9, 18.04e9, 92.5e9};
  run.devices = {{run.environment.device, run.ceilings}};
  run.scenarios = {{kName, "sample.yaml", std::string(64, 'a'), 7}};
  run.scenarios[0].configs = {{"model/config.json", std::string(64, 'c')}};
  run.plugins = {{"/home/user/mine.so", std::string(64, 'd')}};
  run.others = {0.75, 2};
  run.wall_s = 14.25;
  run.spent = {.starting = 0.125,
               .ceilings = 2,
               .building = 0.5,
               .reference = 1,
               .first_use = 0.25,
               .verifying = 0.5,
               .planning = 0.0625,
               .samples = 1.75,
               .around_samples = 8,
               .other = 0.0625};
  run.interrupted = true;

  Record passed = timed(blank("prefix_hits/ps16", "cpu_flash"), 11236.5);
  passed.layer.sliding_window_size = 1023;
  passed.layer.has_sinks = true;
  passed.layer.logit_cap = 30;
  passed.workspace_bytes = 805306368;
  passed.others = {0.0625, 2};
  passed.groups = {{"chat", 25, 112, 94208}, {"needle, or so", 1, 512, 4096}};
  passed.first_use_us = 2125000;
  passed.sweep = {{"kv_cache.page_size", "16"}, {"batch[0].kv_len", "\"4k\", or so"}};
  Record noisy = timed(blank("prefix_hits/ps16", "cpu_flash"), 10500.125);
  noisy.cache = CacheState::kWarm;
  noisy.timing.status = MeasureStatus::kNoisy;
  noisy.timing.hi_us = 11500;
  noisy.outcome =
      Completed{Check::kPassed, Speed::kClaimed, "half-width 4.9 % above 0.5 % after 40 rounds"};
  noisy.cache_resident = true;
  noisy.packages = "vllm==0.22.0 torch==2.11.0+cu130";
  noisy.environment = {"v22", "/envs/old/bin/python"};
  noisy.engine_flag = "--kv-splits 16";
  noisy.kernel = "_vllm_fa3_C.fwd";
  noisy.error.lse_abs = -1;  // it writes none
  noisy.declared.lse = false;
  noisy.error.lse_bound_ratio = 0;

  Record wrong = timed(blank("prefix_hits/ps16", "say \"fast\", ok"), 5000);
  wrong.outcome = Incorrect{
      "3 NaN, the first at request 3, head 12, query 0\nafter a line break | and a pipe", true};
  wrong.error.max_abs = std::numeric_limits<double>::quiet_NaN();
  wrong.error.bound_ratio = std::numeric_limits<double>::infinity();
  wrong.error.non_finite = 3;
  wrong.bitwise = {0, -1, -1};
  wrong.roofline = 0;

  Record unsupported = blank("prefix_hits/ps16", "torch_native");
  unsupported.outcome = Unsupported{"no extend beside decode, <yet>"};

  Record crashed = blank("mla,\"odd\"", "cpu_flash");
  crashed.mix = "mla";
  crashed.use_cascade = {"-", "no shared prefix"};
  crashed.outcome = Crashed{"std::bad_alloc & more"};

  Record mistrusted = timed(blank("mla,\"odd\"", "torch_native#2"), 52.4);
  mistrusted.mix = "mla";
  mistrusted.outcome =
      Completed{Check::kMistrusted, Speed::kClaimed, "41 % of the outputs are zero"};
  mistrusted.timing.enqueue_us = 2.8125;
  mistrusted.timing.sm_mhz = 1980;
  mistrusted.timing.discarded = 3;
  mistrusted.timing.clock_events = {.power_cap = true, .thermal = true};
  mistrusted.timing.sharers = {2, 3'100'000'000};
  mistrusted.index = {12.3, 180.5};
  mistrusted.aa = {12, 1.00125, 0.997, 1.0041, 1.021};

  Record impossible = timed(blank("mla,\"odd\"", "too_fast"), 0.75);
  impossible.mix = "mla";
  impossible.is_short = true;
  impossible.launch = LaunchMode::kGraph;
  impossible.graph_forced = true;
  impossible.roofline = 0;
  impossible.outcome =
      Completed{Check::kPassed, Speed::kImpossible,
                "249333.3 GB/s from cold memory is above 1.02 x the measured read ceiling"};

  Record skipped = blank("mla,\"odd\"", "late");
  skipped.mix = "mla";
  skipped.timing.status = MeasureStatus::kInterrupted;
  skipped.outcome = Skipped{"interrupted"};

  Record single = timed(blank("mla,\"odd\"", "slow#2"), 1.5e6);
  single.mix = "mla";
  single.timing = {MeasureStatus::kTimeout, 1.5e6, 1.5e6, 1.5e6, 1.5e6, 1.5e6, 1.5e6, 1.5e6, 1, 1};
  single.outcome = Completed{Check::kPassed, Speed::kClaimed, "timeout after 1 round"};
  single.roofline = 0.006;
  single.aa = {1, 0.9, 0.9, 0.9, 10.0 / 9};

  Record brief = timed(blank("mla,\"odd\"", "quick"), 4.5);
  brief.mix = "mla";
  brief.launch = LaunchMode::kGraph;
  brief.update = {3.125, 4};
  brief.timing.enqueue_us = 2.25;
  brief.is_short = true;
  brief.engine_choice = {"fa3", "FLASH_ATTN_MLA"};
  brief.graph_n.graph = {31, 31};
  brief.graph_n.timing = {MeasureStatus::kConverged, 3.875, 3.8625, 3.8875};
  brief.graph_n.timing.rounds = 12;
  brief.graph_n.timing.samples = 2400;

  Record alone = brief;  // no memory for the others
  alone.backend = "quick_but_big";
  alone.graph_n.timing = {};
  alone.graph_n.reason = "kv pool needs 7.0 GB of GPU memory, 3.0 GB are available | <sorry>";

  run.records = {passed,     noisy,   wrong,  unsupported, crashed, mistrusted,
                 impossible, skipped, single, brief,       alone};
  Scenario scenario;
  scenario.path = run.scenarios[0].path;
  scenario.seed = run.scenarios[0].seed;
  for (Record& record : run.records) record.repro = repro_line(scenario, record);
  return run;
}

Scenario sample_scenario() {
  Scenario scenario;
  scenario.name = kName;
  scenario.path = "sample.yaml";
  scenario.seed = 7;
  scenario.measure.cache = {CacheState::kCold, CacheState::kWarm};
  Case first;
  first.id = "prefix_hits/ps16";
  first.mix = "prefix_hits";
  first.prefixes = {{"system", 2048}};
  Request request;
  request.group = "chat";
  request.kv_len = 4096;
  request.shared_prefix = 0;
  request.shared_len = 2048;
  first.requests.assign(26, request);
  Case second;
  second.id = "mla,\"odd\"";
  second.mix = "mla";
  second.requests.assign(1, Request{});
  scenario.cases = {first, second};
  return scenario;
}

Record layer_record(const char* kind, const char* backend, double median_us, StepPart step) {
  Record r = sample_run().records[0];
  const bool full = std::string(kind) == "full";
  r.case_id = std::string("chat/") + kind;
  r.backend = backend;
  r.step = step;
  r.model_layers = {kind, full ? 12 : 36, 48, ""};
  r.timing.median_us = median_us;
  r.timing.lo_us = median_us - 1;
  r.timing.hi_us = median_us + 2;
  r.plan = {10, 20};
  return r;
}

RunResult run_with_layers(std::vector<Record> records) {
  RunResult run = sample_run();
  run.records = std::move(records);
  return run;
}

}  // namespace attnbench
