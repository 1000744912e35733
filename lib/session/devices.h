// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/device/device.h"

namespace attnbench {

/// At most one device of each kind.
using Devices = std::vector<std::unique_ptr<Device>>;

struct DeviceOptions {
  int threads = 0;  ///< of the host's processor; 0 = all this process may use
  CpuTarget cpu_target = best_cpu_target();  ///< of the host's processor
  std::optional<int> gpu;  ///< asked for by number; unset: GPU 0, if any backend needs one
};

/// The host's processor, and the GPU when one of `backends` runs there or one is asked for. Throws
/// EnvironmentError when there is no such GPU.
[[nodiscard]] Devices open_devices(std::span<const Registry::Entry* const> backends,
                                   const DeviceOptions& options);

/// The device that `backend` runs on; null when it is not among `devices`.
[[nodiscard]] Device* device_for(const Registry::Entry& backend, const Devices& devices);

}  // namespace attnbench
