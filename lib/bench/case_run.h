// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "lib/bench/driver.h"
#include "lib/bench/run_device.h"
#include "lib/verify/verify.h"

namespace attnbench {

/// One case from verification to records. Lives as long as the case is worked on: fixtures,
/// backends and workspaces go with it.
class CaseRun {
 public:
  CaseRun(const Scenario& scenario, const Case& c, const Cost& cost, std::span<RunDevice> devices,
          const RunHooks& hooks);

  /// Records of every cell, backend after backend. Adds the time spent timing to `measuring_s`.
  [[nodiscard]] std::vector<Record> run(std::span<const Registry::Entry* const> entries,
                                        double& measuring_s);
  /// Records of a case that was never begun.
  [[nodiscard]] std::vector<Record> skip(std::span<const Registry::Entry* const> entries,
                                         const std::string& reason) const;

 private:
  /// The case on one device.
  struct Place {
    RunDevice* on = nullptr;
    std::unique_ptr<Fixture> fixture;
  };

  struct Timing {
    CacheState cache;
    LaunchMode launch;
    CellTiming timing;
  };

  /// One backend's way through the case. `verdict` other than a timeable one ends it.
  struct Candidate {
    const Registry::Entry* entry = nullptr;
    Place* place = nullptr;  ///< null when the run has no device for it
    std::unique_ptr<AttentionBackend> backend;
    std::unique_ptr<Workspace> workspace;
    Verification verification;
    HostTiming plan;
    bool runs = false;  ///< takes part in timing
    std::vector<Timing> timings;
  };

  // case_run.cpp
  [[nodiscard]] Place* place_of(const Registry::Entry& entry);
  void consider(Candidate& candidate);
  /// Runs `work`; a device without enough memory, or lost to an error, ends its candidates only.
  void on_place(Place& place, const std::function<void()>& work);
  void build_fixture(Place& place);
  void build_fixtures();
  void verify();
  void fill_for_timing();
  void plan(Candidate& candidate);
  void time();
  void time_on(Place& place);
  void note_timing(Candidate& candidate, Timing timing);
  void rule_out(Candidate& candidate, Verdict verdict, std::string reason) const;
  [[nodiscard]] bool anyone_runs_on(const Place& place) const;
  [[nodiscard]] bool stop_requested() const;
  void tell(const std::string& what) const;

  // case_records.cpp
  [[nodiscard]] const RunDevice* device_of(const Registry::Entry& entry) const;
  [[nodiscard]] Record blank_record(const Registry::Entry& entry, CacheState cache,
                                    LaunchMode launch) const;
  [[nodiscard]] Record make_record(const Candidate& candidate, CacheState cache,
                                   LaunchMode launch) const;
  void add_timing(Record& record, const Candidate& candidate, const CellTiming& timing) const;

  const Scenario* scenario_;
  const Case* case_;
  Cost cost_;
  const RunHooks* hooks_;
  std::vector<Place> places_;
  std::vector<Candidate> candidates_;
  std::string fixture_hash_;
};

}  // namespace attnbench
