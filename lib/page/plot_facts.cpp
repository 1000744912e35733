// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/plot_facts.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace attnbench {
namespace {

/// A swept path whose value is a length, or the batch itself, which then differs in lengths.
bool sets_a_length(std::string_view path) {
  constexpr std::array<std::string_view, 5> kLengths = {"kv_len", "q_len", "prefix_len",
                                                        "prompt_len", "chunk"};
  return path == "batch" || std::ranges::any_of(kLengths, [&](std::string_view name) {
           return path.find(name) != std::string_view::npos;
         });
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('.') + 1); }

}  // namespace

std::string workload_of(const Record& record) {
  std::string text = record.mix;
  for (const auto& [path, value] : record.sweep) {
    if (sets_a_length(path)) continue;
    const std::string_view last = last_part(path);
    const bool is_unique = std::ranges::count_if(record.sweep, [last](const auto& other) {
                             return last_part(other.first) == last;
                           }) == 1;
    text += " · ";
    text += is_unique ? last : std::string_view(path);
    text += ' ' + value;
  }
  return text;
}

std::optional<double> mean_kv_len(const Record& record) {
  if (record.requests <= 0) return {};
  return static_cast<double>(record.kv_tokens) / static_cast<double>(record.requests);
}

std::optional<double> arithmetic_intensity(const Record& record) {
  if (record.cost.flops <= 0 || record.cost.bytes_unique <= 0) return {};
  return static_cast<double>(record.cost.flops) / static_cast<double>(record.cost.bytes_unique);
}

const Ceilings& ceilings_of(const RunResult& run, const Record& record) {
  const auto device = std::ranges::find_if(
      run.devices, [&](const DeviceRates& each) { return each.device.name == record.device; });
  return device == run.devices.end() ? run.ceilings : device->ceilings;
}

}  // namespace attnbench
