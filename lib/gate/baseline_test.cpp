// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/baseline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lib/base/error.h"
#include "lib/gate/testing/measured_run.h"
#include "lib/result/sinks.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

DeviceInfo device_named(DeviceKind kind, const std::string& name, int units) {
  DeviceInfo device;
  device.kind = kind;
  device.name = name;
  device.units = units;
  return device;
}

TEST(FolderOfAMachine, is_its_model_and_of_a_processor_its_threads) {
  EXPECT_EQ(machine_folder(device_named(DeviceKind::kCuda, "NVIDIA H200", 132)), "nvidia-h200");
  EXPECT_EQ(
      machine_folder(device_named(DeviceKind::kCpu, "Intel(R) Xeon(R) Processor @ 2.80GHz", 2)),
      "intel-r-xeon-r-processor-2.80ghz-2-threads");
  EXPECT_EQ(machine_folder(device_named(DeviceKind::kCuda, "../\n", 1)), "unnamed");
}

class Baselines : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string keep(const RunResult& run) const {
    const std::string path = baseline_path(folder_, run, run.scenarios.front().name);
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream file(path);
    write_json(run, file);
    return path;
  }

  std::string folder_ = testing::TempDir() + "baselines_" + std::to_string(getpid());
};

TEST_F(Baselines, are_found_by_machine_and_scenario) {
  const RunResult run = measured_run({measured_cell("decode", "splitkv", 100)});
  EXPECT_EQ(keep(run), folder_ + "/nvidia-h200/serving.json");
  EXPECT_EQ(read_baselines(folder_, run).records.size(), 1u);
  ASSERT_EQ(list_baselines(folder_).size(), 1u);
  EXPECT_EQ(list_baselines(folder_)[0].run.scenarios[0].name, "serving");
}

TEST_F(Baselines, of_several_scenarios_are_one_run) {
  RunResult both = measured_run({measured_cell("decode", "splitkv", 100)});
  keep(both);
  RunResult other = both;
  other.scenarios[0].name = other.records[0].scenario = "chat";
  keep(other);
  append(both, other);
  const RunResult base = read_baselines(folder_, both);
  EXPECT_EQ(base.scenarios.size(), 2u);
  EXPECT_EQ(base.records.size(), 2u);
  EXPECT_EQ(part_of(base, base.scenarios[1]).records.size(), 1u);
  EXPECT_EQ(part_of(base, base.scenarios[1]).records[0].scenario, "chat");
}

TEST_F(Baselines, that_are_missing_or_of_another_scenario_are_named) {
  RunResult run = measured_run({measured_cell("decode", "splitkv", 100)});
  EXPECT_THAT([&] { static_cast<void>(read_baselines(folder_, run)); },
              ThrowsMessage<EnvironmentError>(HasSubstr("nvidia-h200/serving.json")));
  const std::string path = keep(run);
  run.scenarios[0].name = run.records[0].scenario = "chat";
  std::filesystem::rename(path, baseline_path(folder_, run, "chat"));
  EXPECT_THAT([&] { static_cast<void>(read_baselines(folder_, run)); },
              ThrowsMessage<ConfigError>(HasSubstr("not a baseline of scenario 'chat'")));
  EXPECT_THROW(static_cast<void>(list_baselines(folder_ + "/none")), EnvironmentError);
}

TEST(ARunForABaseline, is_complete_right_and_timed) {
  const RunResult good = measured_run({measured_cell("decode", "splitkv", 100)});
  EXPECT_NO_THROW(expect_fit_for_a_baseline(good));
  RunResult run = good;
  run.interrupted = true;
  EXPECT_THAT([&] { expect_fit_for_a_baseline(run); },
              ThrowsMessage<ConfigError>(HasSubstr("interrupted")));
  run = good;
  run.records[0].outcome = Incorrect{"key 3 was left out", false, {}};
  EXPECT_THAT([&] { expect_fit_for_a_baseline(run); },
              ThrowsMessage<ConfigError>(HasSubstr("splitkv of decode is INCORRECT: key 3")));
  run = good;
  run.records[0].outcome = Unsupported{"no kernel"};
  EXPECT_THAT([&] { expect_fit_for_a_baseline(run); },
              ThrowsMessage<ConfigError>(HasSubstr("no cell of scenario 'serving' has a time")));
}

}  // namespace
}  // namespace attnbench
