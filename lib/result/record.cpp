// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace attnbench {
namespace {

struct VerdictOf {
  Verdict operator()(const Completed& completed) const {
    switch (completed.check) {
      case Check::kNotVerified:
        return Verdict::kNotVerified;
      case Check::kPassed:
        return Verdict::kPassed;
      case Check::kMistrusted:
        return Verdict::kMistrusted;
    }
    return Verdict::kNotVerified;
  }
  Verdict operator()(const Incorrect& /*outcome*/) const { return Verdict::kIncorrect; }
  Verdict operator()(const Unsupported& /*outcome*/) const { return Verdict::kUnsupported; }
  Verdict operator()(const Skipped& /*outcome*/) const { return Verdict::kSkipped; }
  Verdict operator()(const Crashed& /*outcome*/) const { return Verdict::kCrashed; }
};

/// The GPU takes the place of the processor as the main device.
void add_device(RunResult& all, DeviceRates device) {
  const auto same = [&](const DeviceRates& known) {
    return known.device.kind == device.device.kind;
  };
  if (std::ranges::any_of(all.devices, same)) return;
  if (device.device.kind == DeviceKind::kCuda) {
    all.environment.device = device.device;
    all.ceilings = device.ceilings;
  }
  all.devices.push_back(std::move(device));
}

}  // namespace

Verdict verdict_of(const Outcome& outcome) { return std::visit(VerdictOf{}, outcome); }

const std::string& reason_of(const Outcome& outcome) {
  return std::visit([](const auto& each) -> const std::string& { return each.reason; }, outcome);
}

HarnessError harness_error_of(const Outcome& outcome) {
  return std::visit(
      [](const auto& each) {
        if constexpr (requires { each.harness_error; }) return each.harness_error;
        return HarnessError::kNone;
      },
      outcome);
}

Speed speed_of(const Outcome& outcome) {
  const auto* const completed = std::get_if<Completed>(&outcome);
  return completed != nullptr ? completed->speed : Speed::kNone;
}

bool is_timed(const Outcome& outcome) {
  const auto* const incorrect = std::get_if<Incorrect>(&outcome);
  return incorrect != nullptr ? incorrect->timed : speed_of(outcome) != Speed::kNone;
}

std::string DeclaredFacts::text() const {
  if (!exist()) return {};
  return fmt::format("qk {}, p {}, acc {}, partials {} x{}, {}", qk_input, p, accumulator,
                     partial_out, partial_roundings, lse ? "lse" : "no lse");
}

void append(RunResult& all, RunResult further) {
  if (all.scenarios.empty()) {
    all = std::move(further);
    return;
  }
  for (DeviceRates& device : further.devices) add_device(all, std::move(device));
  for (ScenarioSource& source : further.scenarios) {
    if (std::ranges::find(all.scenarios, source) == all.scenarios.end()) {
      all.scenarios.push_back(std::move(source));
    }
  }
  for (InputFile& plugin : further.plugins) {
    if (std::ranges::find(all.plugins, plugin) == all.plugins.end()) {
      all.plugins.push_back(std::move(plugin));
    }
  }
  if (further.others.busy_processors > all.others.busy_processors) all.others = further.others;
  std::ranges::move(further.records, std::back_inserter(all.records));
  all.wall_s += further.wall_s;
  add(all.spent, further.spent);
  all.interrupted = all.interrupted || further.interrupted;
}

double Record::gb_per_s() const {
  if (!claims_speed() || timing.median_us <= 0) return 0;
  return static_cast<double>(cost.bytes_unique) / timing.median_us / 1e3;
}

double Record::tflop_per_s() const {
  if (!claims_speed() || timing.median_us <= 0) return 0;
  return static_cast<double>(cost.flops) / timing.median_us / 1e6;
}

CellKey::CellKey(const Record& record)
    : scenario(record.scenario),
      case_id(record.case_id),
      backend(record.backend),
      step(record.step),
      cache(record.cache),
      launch(record.launch) {}

std::string to_string(const CellKey& key) {
  return fmt::format("{}: {}, {}, {}, {}, {}", key.scenario, key.case_id, key.backend,
                     to_string(key.step), to_string(key.cache), to_string(key.launch));
}

}  // namespace attnbench
