// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/splitkv/work_list.h"
#include "lib/fixture/fixture.h"

namespace attnbench {

/// Sets what `params` takes from the tensors and the layer: addresses, strides, mask rules, scales.
void set_tensors(SplitKvParams& params, const AttentionIo& io);

}  // namespace attnbench
