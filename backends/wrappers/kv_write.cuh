// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backends/wrappers/upcast_fp8_queries.h"
#include "lib/base/tensor_view.h"
#include "lib/batch/kv_pool.h"

namespace attnbench {

/// Rows of new tokens, and the slots of the pool that they go to.
struct KvWriteParams {
  ConstTensorView k_new, v_new;
  bool has_value_rows = true;  ///< false for MLA: V is part of the K row
  KvPool pool;
  const std::int64_t* slots = nullptr;  ///< [tokens], on the device
  std::int64_t tokens = 0;
  TokenRequests requests;  ///< under KvScales::kRequest
};

/// Enqueues the write on `stream`, a cudaStream_t.
void launch_kv_write(const KvWriteParams& params, void* stream);

}  // namespace attnbench
