// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/register.h"

namespace attnbench {
namespace {

BackendInfo cuda_backend(const char* name, const char* description, const char* index_format) {
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
  const char* absence = "built without nvcc";
  registry.add_absent(cuda_backend("splitkv",
                                   "tensor-core tiles through token indices, keys split, merged "
                                   "by LSE",
                                   "kv_indptr/kv_indices"),
                      absence);
  registry.add_absent(
      cuda_backend("paged_fa", "extend: tensor-core tiles over pages", "page_table"), absence);
  registry.add_absent(cuda_backend("mla", "decode: one latent row as K and V", "block_table"),
                      absence);
  registry.add_absent(
      cuda_backend("cascade", "a shared prefix once, suffixes each, LSE merge", "kv_indptr"),
      absence);
}

}  // namespace attnbench
