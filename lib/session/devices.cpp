// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/devices.h"

#include <fmt/format.h>

#include <algorithm>

#include "lib/base/error.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

/// Of a number that was asked for, a refusal says the number.
std::unique_ptr<Device> open_gpu(const DeviceOptions& options) {
  if (!options.gpu) return make_cuda_device();
  try {
    return make_cuda_device(*options.gpu);
  } catch (const EnvironmentError& error) {
    throw EnvironmentError(fmt::format("GPU {}: {}", *options.gpu, error.what()));
  }
}

}  // namespace

Devices open_devices(std::span<const Registry::Entry* const> backends,
                     const DeviceOptions& options) {
  Devices devices;
  devices.push_back(make_cpu_device(options.threads, options.cpu_target));
  const bool needed = std::ranges::any_of(backends, [](const Registry::Entry* entry) {
    return entry->make && entry->info.device == DeviceKind::kCuda;
  });
  if (needed || options.gpu) devices.push_back(open_gpu(options));
  return devices;
}

Device* device_for(const Registry::Entry& backend, const Devices& devices) {
  for (const std::unique_ptr<Device>& device : devices) {
    if (device->info().kind == backend.info.device) return device.get();
  }
  return nullptr;
}

}  // namespace attnbench
