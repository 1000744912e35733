// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/local_executor.h"

#include <algorithm>

#include "lib/base/error.h"
#include "lib/session/composed_session.h"
#include "lib/session/local_session.h"

namespace attnbench {

std::vector<RunDevice> LocalExecutor::prepare(std::span<const Registry::Entry* const> backends) {
  std::vector<RunDevice> used;
  for (const std::unique_ptr<Device>& device : *devices_) {
    const bool needed = std::ranges::any_of(backends, [&](const Registry::Entry* entry) {
      return entry->make && device_for(*entry, *devices_) == device.get();
    });
    if (!needed) continue;
    if (checks_timers_) check_timer(*device);
    used.push_back({device->info(), {}, {}, {}});
    kept_.find_or_measure(used.back(),
                          [this, where = device.get()] { return ceilings_of_(*where); });
  }
  return used;
}

std::unique_ptr<Session> LocalExecutor::begin(const Case& c, const Registry::Entry& entry,
                                              int rounds) {
  Device* const device = device_for(entry, *devices_);
  expects(device != nullptr, "a backend was begun without its device");
  // The parts of a composed step have different layouts, ragged keys and pages.
  const auto session_of = [&](const Case& step) {
    return std::make_unique<LocalSession>(
        entry, step, [this, &step, device, rounds](KvLayout layout) {
          std::weak_ptr<CaseOnDevice>& known = cases_[{device, layout}];
          std::shared_ptr<CaseOnDevice> on_device = known.lock();
          if (!on_device || !on_device->is_of(step)) {
            on_device = std::make_shared<CaseOnDevice>(step, *device, layout, rounds, processes_);
            known = on_device;
          }
          return on_device;
        });
  };
  if (c.parts.empty()) return session_of(c);
  std::vector<std::unique_ptr<LocalSession>> parts;
  for (const Case& part : c.parts) parts.push_back(session_of(part));
  return std::make_unique<ComposedSession>(entry, c, std::move(parts));
}

}  // namespace attnbench
