// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "lib/device/device.h"

namespace attnbench {

/// Asks the driver's management library (NVML), which is found at run time, why a GPU runs below
/// its highest clock.
class ClockEventReader {
 public:
  /// By PCI address as CUDA writes it, "0000:3b:00.0". Null where there is no such library.
  [[nodiscard]] static std::unique_ptr<ClockEventReader> open(const std::string& pci_bus_id);
  virtual ~ClockEventReader() = default;
  ClockEventReader(const ClockEventReader&) = delete;
  ClockEventReader& operator=(const ClockEventReader&) = delete;

  /// Now; none when the library does not answer.
  [[nodiscard]] virtual ClockEvents read() const = 0;

 protected:
  ClockEventReader() = default;
};

}  // namespace attnbench
