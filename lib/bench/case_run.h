// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/bench/driver.h"
#include "lib/verify/verify.h"

namespace attnbench {

/// One case from verification to records. Lives as long as the case is worked on: fixture, backends
/// and workspaces go with it.
class CaseRun {
 public:
  CaseRun(const Scenario& scenario, const Case& c, const Cost& cost, const Ceilings& ceilings,
          Device& device, const RunHooks& hooks);

  /// Records of every cell, backend after backend. Adds the time spent timing to `measuring_s`.
  [[nodiscard]] std::vector<Record> run(std::span<const Registry::Entry* const> entries,
                                        double& measuring_s);
  /// Records of a case that was never begun.
  [[nodiscard]] std::vector<Record> skip(std::span<const Registry::Entry* const> entries,
                                         const std::string& reason) const;

 private:
  /// One backend's way through the case. `verdict` other than a timeable one ends it.
  struct Candidate {
    const Registry::Entry* entry = nullptr;
    std::unique_ptr<AttentionBackend> backend;
    std::unique_ptr<Workspace> workspace;
    Verification verification;
    HostTiming plan;
    std::string failure;  ///< what forward() threw while it was timed
    bool runs = false;    ///< takes part in timing
    std::vector<std::pair<CacheState, CellTiming>> timings;
  };

  void consider(Candidate& candidate);
  void build_fixture();
  void verify(std::vector<Candidate>& candidates);
  void plan(Candidate& candidate);
  void time(std::vector<Candidate>& candidates, double& measuring_s);
  void rule_out(Candidate& candidate, Verdict verdict, std::string reason) const;
  [[nodiscard]] bool stop_requested() const;
  void tell(const std::string& what) const;
  [[nodiscard]] Record blank_record(const Registry::Entry& entry, CacheState cache,
                                    LaunchMode launch) const;
  [[nodiscard]] Record make_record(const Candidate& candidate, CacheState cache,
                                   LaunchMode launch) const;
  void add_timing(Record& record, const Candidate& candidate, const CellTiming& timing) const;

  const Scenario* scenario_;
  const Case* case_;
  Cost cost_;
  Ceilings ceilings_;
  Device* device_;
  const RunHooks* hooks_;
  std::unique_ptr<Fixture> fixture_;
  std::string fixture_hash_;
};

}  // namespace attnbench
