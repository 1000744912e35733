// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "lib/measure/measure.h"
#include "lib/session/devices.h"
#include "lib/session/executor.h"
#include "lib/session/kept_ceilings.h"

namespace attnbench {

class CaseOnDevice;

/// Sessions on devices of this process. Backends on one device share the case's fixture, so it
/// takes memory once; an error that costs the device costs it all of them.
class LocalExecutor final : public Executor {
 public:
  using MeasureCeilings = std::function<Ceilings(Device&)>;

  /// The devices must outlive it; the first is the processor. `processes`: that share them, this
  /// one among them.
  explicit LocalExecutor(const Devices& devices, int ceiling_turns = kCeilingTurns,
                         int processes = 1, KeptCeilings kept = {})
      : LocalExecutor(
            devices,
            [ceiling_turns](Device& device) { return measure_ceilings(device, ceiling_turns); },
            processes, std::move(kept)) {}
  LocalExecutor(const Devices& devices, MeasureCeilings ceilings_of, int processes = 1,
                KeptCeilings kept = {})
      : devices_(&devices),
        ceilings_of_(std::move(ceilings_of)),
        kept_(std::move(kept)),
        processes_(processes) {}

  /// For a program whose kernels another one slows down: devices' timers are not checked.
  void trust_timers() { checks_timers_ = false; }

  [[nodiscard]] DeviceInfo host() const override { return devices_->front()->info(); }
  [[nodiscard]] std::vector<RunDevice> prepare(
      std::span<const Registry::Entry* const> backends) override;
  [[nodiscard]] std::unique_ptr<Session> begin(const Case& c, const Registry::Entry& entry,
                                               int rounds) override;

 private:
  const Devices* devices_;
  MeasureCeilings ceilings_of_;
  KeptCeilings kept_;
  int processes_;
  bool checks_timers_ = true;
  /// Of the case under way, by device and layout of the cache.
  std::map<std::pair<const Device*, KvLayout>, std::weak_ptr<CaseOnDevice>> cases_;
};

}  // namespace attnbench
