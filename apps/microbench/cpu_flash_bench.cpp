// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// One forward of cpu_flash beside torch_native, without the driver: shapes in the spirit of
// scenarios/quickstart.yaml, small enough to sit in a debugger or under perf.
#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>
#include <memory>
#include <string>

#include "backends/register.h"
#include "lib/fixture/fixture.h"

namespace attnbench {
namespace {

AttentionLayer llama_rank(int heads_q, int heads_kv, int head_dim) {
  AttentionLayer layer;
  layer.heads_q = heads_q;
  layer.heads_kv = heads_kv;
  layer.head_dim_qk = layer.head_dim_v = head_dim;
  layer.scale = 1 / std::sqrt(static_cast<double>(head_dim));
  return layer;
}

AttentionLayer deepseek_rank(int heads) {
  AttentionLayer layer = llama_rank(heads, 1, 576);
  layer.family = Family::kLatent;
  layer.head_dim_v = 512;
  layer.scale = 1 / std::sqrt(192.0);
  return layer;
}

Case batch_of(ForwardMode mode, const AttentionLayer& layer, int requests, std::int64_t q_len,
              std::int64_t kv_len) {
  Case c;
  c.id = c.mix = "microbench";
  c.seed = 1;
  c.mode = mode;
  c.layer = layer;
  c.kv_cache.page_size = 16;
  c.requests.resize(static_cast<std::size_t>(requests));
  for (Request& request : c.requests) {
    request.q_len = q_len;
    request.kv_len = kv_len;
    if (mode != ForwardMode::kTargetVerify) continue;
    for (int node = 0; node < q_len; ++node) request.tree_parents.push_back((node - 1) / 2);
    request.tree_parents[0] = -1;
  }
  return c;
}

Case decode() { return batch_of(ForwardMode::kDecode, llama_rank(32, 8, 128), 8, 1, 2048); }

Case decode_mha() { return batch_of(ForwardMode::kDecode, llama_rank(16, 16, 128), 8, 1, 2048); }

Case decode_fp8() {
  Case c = decode();
  c.kv_cache.dtype = DType::kE4M3;
  return c;
}

Case prefill() { return batch_of(ForwardMode::kExtend, llama_rank(32, 8, 128), 1, 512, 512); }

Case chunk() { return batch_of(ForwardMode::kExtend, llama_rank(32, 8, 128), 1, 256, 1024); }

Case verify() { return batch_of(ForwardMode::kTargetVerify, llama_rank(32, 8, 128), 4, 8, 1024); }

Case window() {
  Case c = decode();
  c.layer.sliding_window_size = 511;
  return c;
}

Case mla() { return batch_of(ForwardMode::kDecode, deepseek_rank(16), 8, 1, 1024); }

std::int64_t visible_pairs(const Case& c) {
  std::int64_t pairs = 0;
  for (const Request& request : c.requests) {
    for (std::int64_t token = 0; token < request.q_len; ++token) {
      const std::int64_t keys = request.prefix_len() + token + 1;
      const std::int64_t window = c.layer.sliding_window_size;
      pairs += window < 0 ? keys : std::min(keys, window + 1);
    }
  }
  return pairs;
}

void run_forward(benchmark::State& state, const std::string& name, Case (*make_case)()) {
  const Case c = make_case();
  Registry registry;
  register_builtin_backends(registry);
  const auto device = make_cpu_device();
  const auto stream = device->make_stream();
  const auto backend = registry.find(name)->make();
  Fixture fixture(c, *device);
  fixture.fill(Fill::kTiming);
  PlanMemory memory(*device);
  const std::unique_ptr<Plan> plan = backend->plan(fixture.batch(), memory);
  for (auto _ : state) plan->run(*stream);

  const double pairs = static_cast<double>(visible_pairs(c)) * c.layer.heads_q;
  const bool latent = c.layer.shares_row_of_k_and_v();
  const int row = c.layer.head_dim_qk + (latent ? 0 : c.layer.head_dim_v);
  double keys = 0;
  for (const Request& request : c.requests) {
    const std::int64_t window = c.layer.sliding_window_size;
    keys += static_cast<double>(window < 0 ? request.kv_len
                                           : std::min(request.kv_len, request.q_len + window));
  }
  using benchmark::Counter;
  state.counters["flop/s"] = Counter(2 * pairs * (c.layer.head_dim_qk + c.layer.head_dim_v),
                                     Counter::kIsIterationInvariantRate);
  state.counters["kv_bytes/s"] =
      Counter(keys * row * c.layer.heads_kv * static_cast<double>(size_bytes(c.kv_cache.dtype)),
              Counter::kIsIterationInvariantRate);
}

const struct {
  const char* name;
  Case (*make)();
} kCases[] = {{"decode", decode},         {"decode_mha", decode_mha},
              {"decode_fp8", decode_fp8}, {"prefill", prefill},
              {"chunk", chunk},           {"verify", verify},
              {"window", window},         {"mla", mla}};

}  // namespace
}  // namespace attnbench

int main(int argc, char** argv) {
  for (const auto& each : attnbench::kCases) {
    for (const char* backend : {"cpu_flash", "torch_native"}) {
      const auto make_case = each.make;
      benchmark::RegisterBenchmark((std::string(each.name) + "/" + backend).c_str(),
                                   [backend, make_case](benchmark::State& state) {
                                     attnbench::run_forward(state, backend, make_case);
                                   })
          ->Unit(benchmark::kMillisecond)
          ->UseRealTime();
    }
  }
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
