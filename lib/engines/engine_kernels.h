// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "lib/engines/engine_setup.h"

namespace attnbench {

/// How an engine's backend is called in a step: it has several kernels.
struct KernelUse {
  int capability = 0;   ///< of the NVIDIA GPU, 90
  bool decodes = true;  ///< one query token a request
  int group_size = 1;   ///< query heads per KV head
  bool fp8_cache = false;
  int head_dim = 128;  ///< of keys
};

/// Registered names of backends (those of packs) that launch the kernel which this backend of an
/// engine launches, the closest first. Empty where attnbench has none.
[[nodiscard]] std::vector<std::string_view> kernels_of(Engine engine, std::string_view backend,
                                                       const KernelUse& use);

/// The engine's backend that launches the kernel of this registered backend, or of one whose
/// variant it is; empty where none does.
[[nodiscard]] std::string_view engine_backend_of(Engine engine, std::string_view kernel);

}  // namespace attnbench
