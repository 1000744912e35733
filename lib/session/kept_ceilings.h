// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "lib/session/executor.h"

namespace attnbench {

/// Ceilings of devices, kept from run to run: a file for each device as this program uses it.
/// Nothing about the files can fail a run: one that cannot be read is measured anew, one that
/// cannot be written is not.
class KeptCeilings {
 public:
  struct Rules {
    std::filesystem::path folder = {};  ///< empty: nothing is kept or found
    std::string machine = {};           ///< what rates depend on beside the device
    bool finds = true;                  ///< false: every device is measured, as --remeasure asks
    bool keeps = true;                  ///< false: what is measured here is too rough to keep
    /// Begins to watch the machine; what it returns says whether other programs have disturbed it
    /// since: such ceilings are not kept. May be empty.
    std::function<std::function<bool()>()> watch = {};
  };
  struct Found {
    Ceilings ceilings;
    std::string measured_utc;  ///< ISO 8601
  };

  KeptCeilings() = default;
  explicit KeptCeilings(Rules rules) : rules_(std::move(rules)) {}

  /// Fills in the ceilings of `device`, whose info is known; `measure` measures them.
  void find_or_measure(RunDevice& device, std::function<Ceilings()> measure) const;

  [[nodiscard]] std::optional<Found> find(const DeviceInfo& device) const;
  void keep(const DeviceInfo& device, const Ceilings& ceilings) const;
  [[nodiscard]] std::filesystem::path file_of(const DeviceInfo& device) const;

 private:
  [[nodiscard]] std::string key_of(const DeviceInfo& device) const;

  Rules rules_;
};

/// $XDG_CACHE_HOME/attnbench, or ~/.cache/attnbench; empty where neither is known.
[[nodiscard]] std::filesystem::path cache_folder();

/// This start of the system, this program's file and the processors that it may use; empty where
/// the system does not tell them all.
[[nodiscard]] std::string this_machine();

}  // namespace attnbench
