// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// What a run costs before anything is timed: expansion, index building, contents, the reference.
#include <benchmark/benchmark.h>

#include <iterator>
#include <string>

#include "backends/register.h"
#include "lib/fixture/fixture.h"
#include "lib/index/csr.h"
#include "lib/index/page_table.h"
#include "lib/layout/lay_out.h"
#include "lib/run/driver.h"
#include "lib/scenario/scenario.h"
#include "lib/session/local_executor.h"
#include "reference/oracle.h"

namespace attnbench {
namespace {

std::string scenario_text(std::int64_t requests) {
  return "defaults: {model: llama-3.1-8b, kv_cache: {page_size: 16}}\n"
         "mixes: {m: {batch: [{count: " +
         std::to_string(requests) + ", mode: decode, kv_len: {uniform: [1, 8k]}}]}}\n";
}

Case decode_batch(std::int64_t requests) {
  return parse_scenario(scenario_text(requests), "bench.yaml").cases.front();
}

void expand(benchmark::State& state) {
  const std::string text = scenario_text(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(parse_scenario(text, "bench.yaml"));
  state.SetItemsProcessed(state.iterations() * state.range(0));  // requests
}

/// A file of many entries, each a line: what a recorded batch looks like.
void read_entries(benchmark::State& state) {
  std::string text = "defaults: {model: llama-3.1-8b}\nmixes:\n  recorded:\n    batch:\n";
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    text += "      - {mode: decode, kv_len: " + std::to_string(i % 50 + 1) + "}\n";
  }
  for (auto _ : state) benchmark::DoNotOptimize(parse_scenario(text, "bench.yaml"));
  state.SetItemsProcessed(state.iterations() * state.range(0));  // entries: the same rate for any
  state.SetComplexityN(state.range(0));
}

void allocate_pages(benchmark::State& state) {
  const Case c = decode_batch(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(lay_out(c));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

/// `build` on a batch without tensor memory; the rate counts KV tokens.
template <class Build>
void build_indices(benchmark::State& state, const Build& build) {
  const Case c = decode_batch(state.range(0));
  BatchLayout layout = lay_out(c);
  layout.batch.req_to_token_pool = &layout.req_to_token_pool;
  for (auto _ : state) benchmark::DoNotOptimize(build(layout.batch));
  state.SetItemsProcessed(state.iterations() * layout.batch.seq_lens_sum);
}

void kv_indices(benchmark::State& state) {
  build_indices(state, [](const ForwardBatch& batch) { return build_csr(batch, 1); });
}
void kv_page_indices(benchmark::State& state) {
  build_indices(state, [](const ForwardBatch& batch) { return build_csr(batch, 16); });
}
void block_table(benchmark::State& state) {
  build_indices(state, [](const ForwardBatch& batch) { return build_page_table(batch, 16); });
}

void fill(benchmark::State& state) {
  const Case c = decode_batch(state.range(0));
  const auto device = make_cpu_device();
  Fixture fixture(c, *device);
  for (auto _ : state) fixture.fill(Fill::kTiming);
  state.SetBytesProcessed(state.iterations() * fixture.bytes());
}

void reference(benchmark::State& state) {
  const Case c = decode_batch(state.range(0));
  const Contents contents(c, Fill::kTiming);
  const std::vector<RowId> rows = reference::sample_rows(c, 128);
  for (auto _ : state) benchmark::DoNotOptimize(reference::evaluate_rows(c, contents, rows));
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows.size()));
}

/// All that a run does for a case of hardly any work: what thousands of small cases cost. Warm,
/// since a flush takes longer than all the rest.
void small_cases(benchmark::State& state) {
  Scenario scenario = parse_scenario(
      "defaults: {model: llama-3.1-8b, tp: 8}\n"
      "mixes: {a: {batch: [{mode: decode, kv_len: 4}]}}\n"
      "sweep: {grid: {'batch[0].kv_len': {range: {start: 1, stop: 50}}}}\n"
      "measure: {cache: [warm]}\n"
      "verify: {rows: 1}\n",
      "bench.yaml");
  MeasureConfig& measure = scenario.measure;  // as --quick has it
  measure.min_rounds = measure.max_rounds = 3;
  measure.min_block_samples = measure.max_block_samples = 1;
  Registry registry;
  register_builtin_backends(registry);
  Devices devices;
  devices.push_back(make_cpu_device());
  LocalExecutor executor(devices, [](Device&) { return Ceilings{}; });
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        run_scenario(scenario, plan_run(scenario, registry, {{}, {"cpu_flash"}}), executor, {}));
  }
  state.SetItemsProcessed(state.iterations() * std::ssize(scenario.cases));
}

BENCHMARK(expand)->Arg(8)->Arg(256);
BENCHMARK(read_entries)->Arg(1'000)->Arg(10'000)->Unit(benchmark::kMillisecond)->Complexity();
BENCHMARK(allocate_pages)->Arg(8)->Arg(256);
BENCHMARK(kv_indices)->Arg(8)->Arg(256);
BENCHMARK(kv_page_indices)->Arg(8)->Arg(256);
BENCHMARK(block_table)->Arg(8)->Arg(256);
BENCHMARK(fill)->Arg(4)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(reference)->Arg(4)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(small_cases)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace attnbench

BENCHMARK_MAIN();
