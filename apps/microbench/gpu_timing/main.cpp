// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// Experiments on how to time GPU kernels, whose tables the defaults of lib/measure rest on:
//   gpu_timing_experiments [e1 … e7] [--once]
// Without a name, all. --once takes one sample per row, for ncu to count bytes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "apps/microbench/gpu_timing/bench.cuh"

int main(int argc, char** argv) {
  using namespace attnbench;
  using namespace attnbench::gpu_timing;
  const std::map<std::string, void (*)(const Bench&)> experiments{
      {"e1", compare_flushes},         {"e2", compare_blocking}, {"e3", watch_clocks_settle},
      {"e4", measure_same_twice},      {"e5", fill_the_queue},   {"e6", compare_data},
      {"e7", compare_many_node_graphs}};
  std::vector<std::string> chosen;
  int samples = 41;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--once") {
      samples = 1;
    } else if (experiments.contains(argument)) {
      chosen.push_back(argument);
    } else {
      fmt::print(stderr, "usage: {} [e1 … e7] [--once]\n", argv[0]);
      return 4;
    }
  }
  if (const std::string absence = cuda_absence(); !absence.empty()) {
    fmt::print("nothing to time: {}\n", absence);
    return 0;
  }
  const Bench bench(samples);
  fmt::print("{}, {} SMs, {:.0f} MB of L2\n", bench.device().info().name,
             bench.device().info().units, static_cast<double>(bench.l2_bytes()) / 1e6);
  for (const auto& [name, run] : experiments) {
    if (!chosen.empty() && std::find(chosen.begin(), chosen.end(), name) == chosen.end()) continue;
    fmt::print("\n### {}\n\n", name);
    run(bench);
    std::fflush(stdout);
  }
  return 0;
}
