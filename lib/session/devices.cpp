// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/devices.h"

#include <algorithm>

#include "lib/device/cuda/cuda_device.h"

namespace attnbench {

Devices open_devices(std::span<const Registry::Entry* const> backends,
                     const DeviceOptions& options) {
  Devices devices;
  devices.push_back(make_cpu_device(options.threads, options.cpu_target));
  const bool needed = std::ranges::any_of(backends, [](const Registry::Entry* entry) {
    return entry->make && entry->info.device == DeviceKind::kCuda;
  });
  if (needed || options.gpu) devices.push_back(make_cuda_device(options.gpu.value_or(0)));
  return devices;
}

Device* device_for(const Registry::Entry& backend, const Devices& devices) {
  for (const std::unique_ptr<Device>& device : devices) {
    if (device->info().kind == backend.info.device) return device.get();
  }
  return nullptr;
}

}  // namespace attnbench
