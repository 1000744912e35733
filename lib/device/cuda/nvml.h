// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/device/device.h"
#include "lib/device/gpu_state.h"

namespace attnbench {

/// What the driver's management library (NVML), which is found at run time, says of a GPU.
class Nvml {
 public:
  /// By PCI address as CUDA writes it, "0000:3b:00.0". Null where there is no such library.
  [[nodiscard]] static std::unique_ptr<Nvml> open(const std::string& pci_bus_id);
  virtual ~Nvml() = default;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Why it runs below its highest clock now; nothing when the library does not answer.
  [[nodiscard]] virtual ClockEvents clock_events() const = 0;
  /// That have a context there, as of the last second; none when the library does not answer.
  [[nodiscard]] virtual std::vector<GpuProcess> processes() = 0;

 protected:
  Nvml() = default;
};

}  // namespace attnbench
