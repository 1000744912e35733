// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <string_view>
#include <utility>

#include "backends/register.h"
#include "backends/splitkv/plan.h"
#include "lib/device/cuda/cuda_device.h"

namespace attnbench {
namespace {

BackendInfo cuda_backend(std::string_view name, std::string_view description,
                         std::string_view index_format) {
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
  for (const SplitRule rule : kSplitRules) {
    BackendInfo info = cuda_backend(name_of(rule), description_of(rule), "kv_indptr/kv_indices");
    info.by_default = rule == SplitRule::kFill;
    registry.add_absent(std::move(info), absence);
  }
  registry.add_absent(
      cuda_backend("paged_fa", "extend: tensor-core tiles over pages", "page_table"), absence);
  registry.add_absent(cuda_backend("mla", "decode: one latent row as K and V", "block_table"),
                      absence);
  registry.add_absent(
      cuda_backend("cascade", "a shared prefix once, suffixes each, LSE merge", "kv_indptr"),
      absence);
}

}  // namespace attnbench
