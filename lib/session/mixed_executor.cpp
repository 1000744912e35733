// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/mixed_executor.h"

#include <algorithm>

namespace attnbench {

std::vector<RunDevice> MixedExecutor::prepare(std::span<const Registry::Entry* const> backends) {
  // A device is measured once for all backends that run on it; here, if it is open here, where no
  // code of a plug-in is.
  std::vector<RunDevice> devices = here_->prepare(backends);
  std::vector<const Registry::Entry*> hosted(backends.begin(), backends.end());
  std::erase_if(hosted, [&](const Registry::Entry* entry) {
    return std::ranges::any_of(
        devices, [&](const RunDevice& device) { return device.info.kind == entry->info.device; });
  });
  for (RunDevice& device : elsewhere_->prepare(hosted)) devices.push_back(std::move(device));
  return devices;
}

std::unique_ptr<Session> MixedExecutor::begin(const Case& c, const Registry::Entry& entry,
                                              int rounds) {
  return (entry.host.empty() ? here_ : elsewhere_)->begin(c, entry, rounds);
}

}  // namespace attnbench
