// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/register.h"

#include <memory>

#include "backends/cpu_flash/cpu_flash.h"
#include "backends/torch_native/torch_native.h"

namespace attnbench {
namespace {

template <class Backend>
Registry::Factory make() {
  return [] { return std::make_unique<Backend>(); };
}

BackendInfo planned_cuda(const char* name, const char* description, const char* index_format) {
  BackendInfo info;
  info.name = name;
  info.version = "-";
  info.description = description;
  info.index_format = index_format;
  info.device = DeviceKind::kCuda;
  return info;
}

}  // namespace

void register_builtin_backends(Registry& registry) {
  registry.add(make<TorchNativeBackend>());
  registry.add(make<CpuFlashBackend>());

  const char* absence = "built without CUDA: no CUDA backend is part of this version yet";
  registry.add_absent(
      planned_cuda("splitkv", "decode: split-KV with an LSE merge", "kv_indptr/kv_indices"),
      absence);
  registry.add_absent(
      planned_cuda("paged_fa", "extend: tensor-core tiles over pages", "page_table"), absence);
  registry.add_absent(planned_cuda("mla", "decode: one latent row as K and V", "block_table"),
                      absence);
  registry.add_absent(
      planned_cuda("cascade", "a shared prefix once, suffixes each, LSE merge", "kv_indptr"),
      absence);
}

}  // namespace attnbench
