// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "backends/mla/mla.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/register.h"
#include "backends/splitkv/splitkv.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

/// A backend of this build: it runs, or the machine says why it cannot.
template <class Backend>
void add(Registry& registry, const std::string& absence) {
  if (absence.empty()) {
    registry.add([] { return std::make_unique<Backend>(); });
  } else {
    registry.add_absent(Backend().info(), absence);
  }
}

BackendInfo planned(const char* name, const char* description, const char* index_format) {
  BackendInfo info;
  info.name = name;
  info.version = "-";
  info.description = description;
  info.index_format = index_format;
  info.device = DeviceKind::kCuda;
  return info;
}

}  // namespace

void register_cuda_backends(Registry& registry) {
  const std::string absence = cuda_absence();
  add<SplitKvBackend>(registry, absence);
  add<PagedFaBackend>(registry, absence);
  add<MlaBackend>(registry, absence);
  const char* unwritten = "not part of this version yet";
  registry.add_absent(
      planned("cascade", "a shared prefix once, suffixes each, LSE merge", "kv_indptr"), unwritten);
}

}  // namespace attnbench
