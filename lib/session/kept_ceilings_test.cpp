// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/kept_ceilings.h"

#include <gmock/gmock.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace attnbench {
namespace {

constexpr Ceilings kMeasured{21e9, 18e9, 92e9};
constexpr Ceilings kSlower{1e9, 2e9, 3e9};

class KeptCeilingsTest : public testing::Test {
 protected:
  KeptCeilingsTest() {
    std::string name = testing::TempDir() + "ceilings-XXXXXX";
    folder_ = std::filesystem::path(mkdtemp(name.data())) / "made" / "when needed";
    rules_ = {.folder = folder_, .machine = "boot 1"};
    device_.name = "Sample CPU";
    device_.units = 2;
  }
  ~KeptCeilingsTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_.parent_path().parent_path(), ignored);
  }

  /// A run of which the device can do `now`.
  RunDevice run(const KeptCeilings::Rules& rules, const Ceilings& now) {
    RunDevice device{device_, {}, {}, {}};
    KeptCeilings(rules).find_or_measure(device, [&, now] {
      ++measured_;
      return now;
    });
    return device;
  }
  [[nodiscard]] std::string text() const {
    std::ifstream file(KeptCeilings(rules_).file_of(device_));
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void overwrite(const std::string& with) const {
    std::ofstream(KeptCeilings(rules_).file_of(device_)) << with;
  }

  std::filesystem::path folder_;
  KeptCeilings::Rules rules_;
  DeviceInfo device_;
  int measured_ = 0;
};

void expect_same(const Ceilings& found, const Ceilings& wanted) {
  EXPECT_EQ(found.read_bytes_per_s, wanted.read_bytes_per_s);
  EXPECT_EQ(found.copy_bytes_per_s, wanted.copy_bytes_per_s);
  EXPECT_EQ(found.flop_per_s, wanted.flop_per_s);
}

TEST_F(KeptCeilingsTest, are_measured_once_and_then_found_with_their_time) {
  const RunDevice first = run(rules_, kMeasured);
  EXPECT_EQ(first.ceilings_utc, "");
  EXPECT_TRUE(first.measure_again);
  const RunDevice second = run(rules_, kSlower);
  EXPECT_EQ(measured_, 1);
  expect_same(second.ceilings, kMeasured);
  EXPECT_THAT(second.ceilings_utc, testing::MatchesRegex("....-..-..T..:..:..Z"));
  EXPECT_EQ(second.ceilings_s, 0);
}

TEST_F(KeptCeilingsTest, are_measured_again_where_a_cell_asks_for_it) {
  static_cast<void>(run(rules_, kSlower));
  const RunDevice found = run(rules_, kMeasured);
  ASSERT_TRUE(found.measure_again);
  expect_same(found.measure_again(), kMeasured);
  expect_same(run(rules_, kSlower).ceilings, kMeasured);  // the new ones are kept
}

TEST_F(KeptCeilingsTest, are_not_those_of_another_start_or_device) {
  static_cast<void>(run(rules_, kMeasured));
  KeptCeilings::Rules other = rules_;
  other.machine = "boot 2";
  expect_same(run(other, kSlower).ceilings, kSlower);
  device_.units = 1;
  expect_same(run(rules_, kSlower).ceilings, kSlower);
  device_.units = 2;
  device_.memory_bytes += 4096;  // what is free differs from run to run
  expect_same(run(rules_, kSlower).ceilings, kMeasured);
}

TEST_F(KeptCeilingsTest, of_another_key_under_the_same_name_are_not_believed) {
  static_cast<void>(run(rules_, kMeasured));
  std::string other = text();
  other.replace(other.find("boot 1"), 6, "boot 7");
  overwrite(other);
  expect_same(run(rules_, kSlower).ceilings, kSlower);
}

TEST_F(KeptCeilingsTest, are_measured_where_the_file_is_damaged) {
  static_cast<void>(run(rules_, kMeasured));
  const std::string whole = text();
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  for (const std::string& damaged :
       {std::string(), std::string("no JSON"), std::string("[]"), std::string("{}"),
        whole.substr(0, whole.size() / 2), with("21000000000.0", "-1"), with("21000000000.0", "0"),
        with("21000000000.0", "\"fast\""), with("21000000000.0", "1e999"),
        with("measured_utc", "measured_at")}) {
    overwrite(damaged);
    expect_same(run(rules_, kSlower).ceilings, kSlower);
    EXPECT_THAT(text(), testing::HasSubstr("1000000000.0")) << "mended";
  }
}

TEST_F(KeptCeilingsTest, are_neither_found_nor_missed_where_nothing_can_be_written) {
  rules_.folder = "/proc/no such folder";
  expect_same(run(rules_, kMeasured).ceilings, kMeasured);
  expect_same(run(rules_, kSlower).ceilings, kSlower);
  expect_same(run({}, kSlower).ceilings, kSlower);
  EXPECT_EQ(measured_, 3);
}

TEST_F(KeptCeilingsTest, are_not_kept_when_rough_or_when_other_programs_were_busy) {
  KeptCeilings::Rules rough = rules_;
  rough.keeps = false;
  static_cast<void>(run(rough, kSlower));
  KeptCeilings::Rules busy = rules_;
  busy.watch = [] { return [] { return true; }; };
  static_cast<void>(run(busy, kSlower));
  EXPECT_EQ(text(), "");
  KeptCeilings::Rules quiet = rules_;
  quiet.watch = [] { return [] { return false; }; };
  static_cast<void>(run(quiet, kMeasured));
  expect_same(run(rough, kSlower).ceilings, kMeasured);  // a rough run takes better ones
}

TEST_F(KeptCeilingsTest, are_measured_and_kept_anew_on_demand) {
  static_cast<void>(run(rules_, kMeasured));
  KeptCeilings::Rules anew = rules_;
  anew.finds = false;
  const RunDevice device = run(anew, kSlower);
  expect_same(device.ceilings, kSlower);
  EXPECT_EQ(device.ceilings_utc, "");
  expect_same(run(rules_, kMeasured).ceilings, kSlower);
}

TEST_F(KeptCeilingsTest, are_whole_while_several_runs_write_them) {
  std::vector<std::thread> runs;
  for (int i = 0; i < 4; ++i) {
    runs.emplace_back([this] {
      const KeptCeilings kept(rules_);
      for (int turn = 0; turn < 200; ++turn) {
        kept.keep(device_, kMeasured);
        const auto found = kept.find(device_);
        EXPECT_TRUE(found) << "half a file was read";
      }
    });
  }
  for (std::thread& each : runs) each.join();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1) << "files left";
}

TEST(ThisMachine, is_told_apart_by_its_start_and_the_program) {
  const std::string machine = this_machine();
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  EXPECT_THAT(machine, testing::HasSubstr("boot " + boot));
  EXPECT_EQ(machine, this_machine());
}

}  // namespace
}  // namespace attnbench
