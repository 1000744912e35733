// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/testing/measured_run.h"

namespace attnbench {

Record measured_cell(const std::string& case_id, const std::string& backend, double median_us) {
  Record r;
  r.scenario = "serving";
  r.case_id = case_id;
  r.mix = case_id.substr(0, case_id.find('/'));
  r.backend = backend;
  r.outcome = Completed{Check::kPassed, Speed::kClaimed};
  r.timing.status = MeasureStatus::kConverged;
  r.timing.median_us = median_us;
  r.timing.lo_us = median_us * 0.996;
  r.timing.hi_us = median_us * 1.004;
  r.timing.rounds = 12;
  r.timing.samples = 240;
  for (int round = 0; round < 12; ++round) r.timing.blocks.push_back({round, median_us});
  r.error.rows = 512;
  r.error.bound_ratio = 0.5;
  r.roofline = 0.8;
  r.fixture_hash = "0123456789abcdef";
  r.repro = "attnbench run serving.yaml --case " + case_id + " --backend " + backend;
  return r;
}

RunResult measured_run(std::initializer_list<Record> records) {
  RunResult run;
  run.environment.device.kind = DeviceKind::kCuda;
  run.environment.device.name = "NVIDIA H200";
  run.environment.device.arch = "sm_90";
  run.environment.device.units = 132;
  run.environment.device.driver = "580.159.03";
  run.environment.device.cuda_version = "13.0";
  run.environment.hostname_hash = "00ff00ff00ff";
  run.environment.started_utc = "2026-01-02T03:04:05Z";
  run.scenarios = {{"serving", "serving.yaml", std::string(64, 'a'), 7}};
  run.records = records;
  return run;
}

}  // namespace attnbench
