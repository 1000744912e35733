// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/local_workshop.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/bench/local_work.h"

namespace attnbench {

std::vector<RunDevice> LocalWorkshop::prepare(std::span<const Registry::Entry* const> backends) {
  std::vector<RunDevice> used;
  for (const std::unique_ptr<Device>& device : *devices_) {
    const bool needed = std::ranges::any_of(backends, [&](const Registry::Entry* entry) {
      return entry->make && device_for(*entry, *devices_) == device.get();
    });
    if (!needed) continue;
    check_timer(*device);
    used.push_back({device->info(), ceilings_of_(*device), {}});
  }
  return used;
}

std::unique_ptr<BackendWork> LocalWorkshop::begin(const Case& c, const Registry::Entry& entry) {
  Device* const device = device_for(entry, *devices_);
  expects(device != nullptr, "a backend was begun without its device");
  return std::make_unique<LocalWork>(entry, c, [this, &c, device](KvLayout layout) {
    std::weak_ptr<LocalPlace>& known = places_[{device, layout}];
    std::shared_ptr<LocalPlace> place = known.lock();
    if (!place || !place->is_of(c)) {
      place = std::make_shared<LocalPlace>(c, *device, layout);
      known = place;
    }
    return place;
  });
}

}  // namespace attnbench
