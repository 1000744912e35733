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

/// "1.04", or "1.04 to 1.31"; empty where there are none.
std::string range_text(const std::vector<double>& ratios) {
  if (ratios.empty()) return {};
  const auto [least, most] = std::ranges::minmax(ratios);
  const std::string from = fmt::format("{:.2f}", least), to = fmt::format("{:.2f}", most);
  return from == to ? from : fmt::format("{} to {}", from, to);
}

/// The cells of one case, some of which claim a speed.
struct TimedCells {
  std::span<const Record> records;
  std::span<const Ranking> rankings;

  /// The first of the kernels that one of the cells launched; empty where none did.
  [[nodiscard]] std::string_view first_timed(std::span<const std::string_view> kernels) const {
    for (const std::string_view kernel : kernels) {
      for (std::size_t i = 0; i < records.size(); ++i) {
        if (without_environment(records[i].backend) == kernel && rankings[i].exists())
          return kernel;
      }
    }
    return {};
  }

  /// The times of the cells of which `is_asked` holds over those of their counterparts in the same
  /// cache state, of which `is_base(cell, counterpart)` does.
  template <class Asked, class Base>
  [[nodiscard]] std::string ratios(const Asked& is_asked, const Base& is_base) const {
    std::vector<double> found;
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (!rankings[i].exists() || !is_asked(records[i])) continue;
      for (std::size_t j = 0; j < records.size(); ++j) {
        const Record& base = records[j];
        if (rankings[j].exists() && base.cache == records[i].cache &&
            base.step == records[i].step && is_base(records[i], base)) {
          found.push_back(records[i].timing.median_us / base.timing.median_us);
        }
      }
    }
    return range_text(found);
  }
};

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
  return range_text(ratios);
}

KernelUse use_in(const Record& record, int capability) {
  return {.capability = capability,
          .decodes = record.mode == to_string(ForwardMode::kDecode),
          .group_size = record.layer.heads_q / std::max(record.layer.heads_kv, 1),
          .fp8_cache = size_bytes(record.kv_cache.dtype) == 1,
          .head_dim = record.layer.head_dim_qk};
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

std::string downgrade_of(Engine engine, const std::string& choice, std::span<const Record> records,
                         std::span<const Ranking> rankings, int capability) {
  if (records.empty()) return {};
  const ChosenByEngines& chosen = records.front().engine_choice;
  const bool sglang = engine == Engine::kSglang;
  if (choice.empty() || choice != (sglang ? chosen.sglang : chosen.vllm)) return {};
  const std::string& instead_of = sglang ? chosen.sglang_instead_of : chosen.vllm_instead_of;
  const std::string& graph = sglang ? chosen.sglang_graph : chosen.vllm_graph;
  const TimedCells cells{records, rankings};
  const KernelUse use = use_in(records.front(), capability);
  const std::string_view taken = cells.first_timed(kernels_of(engine, choice, use));
  std::string text;
  if (!instead_of.empty()) {
    text = "in place of " + instead_of;
    const std::string_view other = cells.first_timed(kernels_of(engine, instead_of, use));
    const std::string ratios =
        cells.ratios([&](const Record& r) { return without_environment(r.backend) == taken; },
                     [&](const Record& r, const Record& base) {
                       return without_environment(base.backend) == other && base.launch == r.launch;
                     });
    if (!ratios.empty()) text += fmt::format(" ({} of {})", ratios, other);
  }
  if (!graph.empty()) {
    text += text.empty() ? "without a CUDA graph" : " without a CUDA graph";
    const std::string ratios = cells.ratios(
        [&](const Record& r) {
          return without_environment(r.backend) == taken && r.launch == LaunchMode::kEager;
        },
        [&](const Record& r, const Record& base) {
          return base.backend == r.backend && base.launch == LaunchMode::kGraph;
        });
    if (!ratios.empty()) text += fmt::format(" ({} of its graph)", ratios);
  }
  return text;
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
    const std::string lost = downgrade_of(engine, choice, records, rankings, capability);
    parts.push_back(
        fmt::format("{}{} {}{}{}", to_string(engine), parts.empty() ? " would take" : "", choice,
                    cost.empty() ? "" : " (" + cost + ")", lost.empty() ? "" : " " + lost));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace attnbench
