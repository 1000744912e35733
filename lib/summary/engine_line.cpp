// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/engine_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "lib/engines/engine_kernels.h"

namespace attnbench {
namespace {

/// "1.04", or "1.04 to 1.31", of the cells of this backend that claim a speed; empty: there is
/// none.
std::string ratios_of(std::string_view backend, std::span<const Record> records,
                      std::span<const Ranking> rankings) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (without_environment(records[i].backend) == backend && rankings[i].exists()) {
      ratios.push_back(rankings[i].ratio);
    }
  }
  if (ratios.empty()) return {};
  const auto [least, most] = std::ranges::minmax(ratios);
  const std::string from = fmt::format("{:.2f}", least), to = fmt::format("{:.2f}", most);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

KernelUse use_in(const Record& record, int capability) {
  return {.capability = capability,
          .decodes = record.mode == to_string(ForwardMode::kDecode),
          .group_size = record.layer.heads_q / std::max(record.layer.heads_kv, 1),
          .fp8_cache = size_bytes(record.kv_cache.dtype) == 1};
}

}  // namespace

int capability_of(const RunResult& run) {
  for (const DeviceRates& rates : run.devices) {
    if (rates.device.kind != DeviceKind::kCuda) continue;
    const EngineDevice* device = find_engine_device(rates.device.arch);
    return device == nullptr ? 0 : device->capability;
  }
  return 0;
}

std::string cost_of_choice(Engine engine, const std::string& choice,
                           std::span<const Record> records, std::span<const Ranking> rankings,
                           int capability) {
  if (records.empty()) return {};
  const KernelUse use = use_in(records.front(), capability);
  for (const std::string_view kernel : kernels_of(engine, choice, use)) {
    const std::string ratios = ratios_of(kernel, records, rankings);
    if (!ratios.empty()) return fmt::format("{}, {} of the best", kernel, ratios);
  }
  return {};
}

std::string engine_line(std::span<const Record> records, std::span<const Ranking> rankings,
                        int capability) {
  std::vector<std::string> parts;
  if (records.empty()) return {};
  const ChosenByEngines& chosen = records.front().engine_choice;
  for (const Engine engine : kEngines) {
    const std::string& choice = engine == Engine::kSglang ? chosen.sglang : chosen.vllm;
    if (choice.empty()) continue;
    const std::string cost = cost_of_choice(engine, choice, records, rankings, capability);
    parts.push_back(fmt::format("{}{} {}{}", to_string(engine), parts.empty() ? " would take" : "",
                                choice, cost.empty() ? "" : " (" + cost + ")"));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace attnbench
