// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Host time that an engine spends once a step: the work lists and index arrays that the GPU
// backends build before they launch anything. Arrays that a GPU builds are not included, so no GPU
// is needed.
#include <benchmark/benchmark.h>

#include <string>

#include "backends/cascade/plan.h"
#include "backends/mla/plan.h"
#include "backends/paged_fa/plan.h"
#include "backends/splitkv/plan.h"
#include "lib/fixture/fixture.h"
#include "lib/layout/lay_out.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

constexpr int kMultiprocessors = 132;  // of an H200

/// Batches that are long in one dimension each.
struct Shape {
  const char* name;
  const char* batch;
};
constexpr Shape kShapes[] = {
    {"64_share_8k", "[{count: 64, mode: decode, prefix: system, kv_len: 8704}]"},
    {"512_share_8k", "[{count: 512, mode: decode, prefix: system, kv_len: 8704}]"},
    {"64x8k", "64q1s8k"},
    {"256x1k", "256q1s1k"},
    {"1024x1k", "1024q1s1k"},
    {"8x128k", "8q1s128k"},
    {"chunk_4x2k_after_8k", "4q2ks10k"},
    {"prompt_16k", "q16k"},
};

/// `plan` of a batch without tensor memory.
template <class Plan>
void time_plans(benchmark::State& state, const std::string& model, const Plan& plan) {
  const Shape& shape = kShapes[state.range(0)];
  const std::string text = "defaults: {model: " + model + ", kv_cache: {page_size: 16}}\n" +
                           "prefixes: {system: 8k}\nmixes: {m: {batch: " + shape.batch + "}}\n";
  const Case c = parse_scenario(text, "bench.yaml").cases.front();
  BatchLayout layout = lay_out(c);
  layout.batch.req_to_token_pool = &layout.req_to_token_pool;
  for (auto _ : state) plan(layout.batch, c.layer);
  state.SetLabel(shape.name);
}

void splitkv(benchmark::State& state) {
  time_plans(state, "llama-3.1-8b", [](const ForwardBatch& batch, const AttentionLayer& layer) {
    benchmark::DoNotOptimize(
        splitkv::plan_work(batch, layer, splitkv::SplitRule::kFill, kMultiprocessors));
  });
}

void cascade(benchmark::State& state) {
  time_plans(state, "llama-3.1-8b", [](const ForwardBatch& batch, const AttentionLayer& layer) {
    benchmark::DoNotOptimize(cascade::plan_work(batch, layer, kMultiprocessors));
  });
}

void paged_fa(benchmark::State& state) {
  time_plans(state, "llama-3.1-8b", [](const ForwardBatch& batch, const AttentionLayer& layer) {
    benchmark::DoNotOptimize(
        paged_fa::plan_work(paged_fa::plan_input(batch, layer, true, kMultiprocessors)));
  });
}

void mla(benchmark::State& state) {
  time_plans(state, "deepseek-v3", [](const ForwardBatch& batch, const AttentionLayer& layer) {
    benchmark::DoNotOptimize(
        mla::plan_work(batch, layer, mla::TileKind::kWarpgroups, kMultiprocessors));
  });
}

#define ATTNBENCH_PLANS(backend) \
  BENCHMARK(backend)->DenseRange(0, std::size(kShapes) - 1)->Unit(benchmark::kMicrosecond)
ATTNBENCH_PLANS(splitkv);
ATTNBENCH_PLANS(cascade);
ATTNBENCH_PLANS(paged_fa);
ATTNBENCH_PLANS(mla);

}  // namespace
}  // namespace attnbench

BENCHMARK_MAIN();
