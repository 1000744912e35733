// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <string>

#include "backends/cascade/cascade.h"
#include "backends/mla/mla.h"
#include "backends/paged_fa/paged_fa.h"
#include "backends/register.h"
#include "backends/splitkv/splitkv.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

/// A backend of this build: it runs, or the machine says why it cannot.
template <class Kind, class... Arguments>
void add(Registry& registry, const std::string& absence, Arguments... arguments) {
  if (absence.empty()) {
    registry.add([arguments...] { return std::make_unique<Kind>(arguments...); });
  } else {
    registry.add_absent(Kind(arguments...).info(), absence);
  }
}

}  // namespace

void register_cuda_backends(Registry& registry) {
  const std::string absence = cuda_absence();
  for (const auto rule : splitkv::kSplitRules)
    add<splitkv::SplitKvBackend>(registry, absence, rule);
  add<paged_fa::PagedFaBackend>(registry, absence);
  add<mla::MlaBackend>(registry, absence);
  add<cascade::CascadeBackend>(registry, absence);
}

}  // namespace attnbench
