// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/selftest/selftest.h"

#include <algorithm>
#include <span>

namespace attnbench {
namespace {

/// A case with its truth under each fill, shared by all mutants.
struct Examined {
  const Case* c;
  std::vector<FillTruth> truth;
};

std::vector<Examined> examine(const std::vector<Case>& cases) {
  const VerifyConfig config;
  std::vector<Examined> examined;
  for (const Case& c : cases) examined.push_back({&c, compute_truth(c, config)});
  return examined;
}

/// The first verdict that is no pass. The fixture is new each time: damage by one run must not
/// affect the next.
Verification verify_with_fill(Device& device, const std::vector<Examined>& examined, Fault fault,
                              std::size_t fill) {
  Verification last;
  for (const Examined& each : examined) {
    if (fault != Fault::kNone && is_of_delta_net(fault) != each.c->layer.is_recurrent()) continue;
    MutantBackend backend(fault, device.info().kind);
    Fixture fixture(*each.c, device);
    last = verify_backend(*each.c, backend, fixture, device, std::span(&each.truth[fill], 1));
    // A mutant must fail; the correct backend must not even be mistrusted.
    const bool decided =
        fault == Fault::kNone ? last.verdict != Verdict::kPassed : is_failure(last.verdict);
    if (!decided) continue;
    last.reason = each.c->id + ": " + last.reason;
    return last;
  }
  return last;
}

SelftestRow verify_fault(Device& device, const std::vector<Examined>& examined, Fault fault) {
  SelftestRow row;
  row.fault = fault;
  for (std::size_t fill = 0; fill < kFills.size(); ++fill) {
    row.by_fill.push_back(verify_with_fill(device, examined, fault, fill));
  }
  return row;
}

}  // namespace

bool SelftestRow::blamed() const {
  return std::ranges::any_of(by_fill,
                             [](const Verification& each) { return is_failure(each.verdict); });
}

std::string SelftestRow::reason() const {
  const auto found = std::ranges::find_if(
      by_fill, [](const Verification& each) { return is_failure(each.verdict); });
  return found == by_fill.end() ? std::string() : found->reason;
}

bool SelftestMatrix::sound() const {
  const auto passed = [](const Verification& each) { return each.verdict == Verdict::kPassed; };
  return !mutants.empty() && std::ranges::all_of(mutants, &SelftestRow::blamed) &&
         std::ranges::all_of(correct.by_fill, passed);
}

SelftestMatrix run_selftest(Device& device, const std::vector<Case>& cases,
                            const std::vector<Fault>& faults) {
  // Mutants of recurrent layers run on a CPU only.
  const bool delta_nets = device.info().kind == DeviceKind::kCpu;
  std::vector<Case> examinable = cases;
  if (!delta_nets) {
    std::erase_if(examinable, [](const Case& c) { return c.layer.is_recurrent(); });
  }
  const std::vector<Examined> examined = examine(examinable);
  SelftestMatrix matrix;
  matrix.fills.assign(kFills.begin(), kFills.end());
  for (const Case& c : examinable) matrix.cases.push_back(c.id);
  matrix.correct = verify_fault(device, examined, Fault::kNone);
  for (const Fault fault : faults) {
    if (is_of_delta_net(fault) && !delta_nets) continue;
    matrix.mutants.push_back(verify_fault(device, examined, fault));
  }
  return matrix;
}

}  // namespace attnbench
