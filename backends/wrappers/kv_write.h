// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>

#include "lib/backend/backend.h"

namespace attnbench {

/// Plans the write of k_new and v_new into the slots out_cache_loc of a cache of any format,
/// divided by their scales and rounded to nearest even in the type of the cache. Scales of tensors,
/// heads and requests are the batch's; those of tokens and blocks are computed, written_scale(),
/// and stored as well.
using PlanKvWrite = std::function<std::unique_ptr<Plan>(const ForwardBatch&, PlanMemory&)>;

/// On all threads of a CPU, a token at a time.
[[nodiscard]] std::unique_ptr<Plan> plan_kv_write_on_cpu(const ForwardBatch& batch,
                                                         PlanMemory& memory);
/// By a kernel with a block for each token, and of computed scales a warp for each of them. Parts
/// of a row are of multiples of 4 elements. A recorded plan keeps the slots in memory of its own.
[[nodiscard]] std::unique_ptr<Plan> plan_kv_write_on_gpu(const ForwardBatch& batch,
                                                         PlanMemory& memory);

/// `attention` with every part of a step (StepPart): the write alone, or first the write and then
/// `attention`, as engines launch them. The write alone takes caches of any format, if `attention`
/// takes the layer with some cache of the activations' type.
[[nodiscard]] std::unique_ptr<Backend> with_kv_write(std::unique_ptr<Backend> attention,
                                                     PlanKvWrite plan_write);

}  // namespace attnbench
