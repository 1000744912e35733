// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "lib/backend/backend.h"

namespace attnbench {

/// Plans the write of k_new and v_new, divided by k_scale and v_scale and rounded to the type of
/// the cache, into the slots out_cache_loc.
using PlanKvWrite = std::function<std::unique_ptr<Plan>(const ForwardBatch&, PlanMemory&)>;

/// On all threads of a CPU, a token at a time.
[[nodiscard]] std::unique_ptr<Plan> plan_kv_write_on_cpu(const ForwardBatch& batch,
                                                         PlanMemory& memory);
/// By a kernel with a block for each token. A recorded plan keeps the slots in memory of its own.
[[nodiscard]] std::unique_ptr<Plan> plan_kv_write_on_gpu(const ForwardBatch& batch,
                                                         PlanMemory& memory);

/// `attention` with every part of a step (StepPart): the write alone, or first the write and then
/// `attention`, as engines launch them.
[[nodiscard]] std::unique_ptr<Backend> with_kv_write(std::unique_ptr<Backend> attention,
                                                     PlanKvWrite plan_write);
/// The info of such a backend.
[[nodiscard]] BackendInfo with_kv_write(BackendInfo attention);

}  // namespace attnbench
