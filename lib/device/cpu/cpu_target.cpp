// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu_target.h"

#include <fmt/format.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr std::array<std::pair<CpuTarget, std::string_view>, 4> kNames{
    {{CpuTarget::kAvx2, "avx2"},
     {CpuTarget::kAvx512, "avx512"},
     {CpuTarget::kAvx512Bf16, "avx512_bf16"},
     {CpuTarget::kNeon, "neon"}}};

}  // namespace

std::string_view to_string(CpuTarget target) {
  for (const auto& [key, name] : kNames) {
    if (key == target) return name;
  }
  return "?";
}

std::vector<CpuTarget> cpu_targets() {
#ifdef __x86_64__
  std::vector<CpuTarget> targets{CpuTarget::kAvx2};
  if ((hwy::SupportedTargets() & HWY_AVX3) == 0) return targets;
  targets.push_back(CpuTarget::kAvx512);
  if (__builtin_cpu_supports("avx512bf16")) targets.push_back(CpuTarget::kAvx512Bf16);
  return targets;
#else
  return {CpuTarget::kNeon};
#endif
}

CpuTarget best_cpu_target() { return cpu_targets().back(); }

CpuTarget cpu_target_named(std::string_view name) {
  const std::vector<CpuTarget> here = cpu_targets();
  std::string have;
  for (const CpuTarget target : here) have += fmt::format(" {}", to_string(target));
  const auto known =
      std::ranges::find(kNames, name, &std::pair<CpuTarget, std::string_view>::second);
  if (known == kNames.end()) {
    std::vector<std::string_view> names;
    for (const auto& each : kNames) names.push_back(each.second);
    const std::string likely = likely_names(name, names);
    throw ConfigError(fmt::format("unknown CPU target '{}'{}   this processor has:{}", name,
                                  likely.empty() ? "" : fmt::format("   did you mean {}?", likely),
                                  have));
  }
  if (std::ranges::find(here, known->first) == here.end()) {
    throw EnvironmentError(
        fmt::format("this processor has no {} instructions; it has:{}", name, have));
  }
  return known->first;
}

}  // namespace attnbench
