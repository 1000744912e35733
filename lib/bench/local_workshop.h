// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lib/bench/devices.h"
#include "lib/bench/workshop.h"
#include "lib/measure/measure.h"

namespace attnbench {

class LocalPlace;

/// Work on devices of this process. Backends on one device share the case's fixture, so it takes
/// memory once; an error that costs the device costs it all of them.
class LocalWorkshop final : public Workshop {
 public:
  using MeasureCeilings = std::function<Ceilings(Device&)>;

  /// The devices must outlive it; the first is the processor.
  explicit LocalWorkshop(const Devices& devices, int ceiling_turns = kCeilingTurns)
      : LocalWorkshop(devices, [ceiling_turns](Device& device) {
          return measure_ceilings(device, ceiling_turns);
        }) {}
  LocalWorkshop(const Devices& devices, MeasureCeilings ceilings_of)
      : devices_(&devices), ceilings_of_(std::move(ceilings_of)) {}

  [[nodiscard]] DeviceInfo host() const override { return devices_->front()->info(); }
  [[nodiscard]] std::vector<RunDevice> prepare(
      std::span<const Registry::Entry* const> backends) override;
  [[nodiscard]] std::unique_ptr<BackendWork> begin(const Case& c,
                                                   const Registry::Entry& entry) override;

 private:
  const Devices* devices_;
  MeasureCeilings ceilings_of_;
  /// Of the case under way, by device and layout of the cache.
  std::map<std::pair<const Device*, KvLayout>, std::weak_ptr<LocalPlace>> places_;
};

}  // namespace attnbench
