// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/features.h"

namespace attnbench {

/// The features that this program's attention kernels share: the masks of visibility.h, and what
/// attention_params.h says of logits. A new feature is refused until it is named here, or by the
/// backend that has it.
inline constexpr Features kKernelFeatures = {
    Feature::kCrossAttention, Feature::kNotCausal, Feature::kDraftTrees, Feature::kBlocks,
    Feature::kWindow,         Feature::kChunks,    Feature::kDualChunks, Feature::kTemperature,
    Feature::kSoftcap,        Feature::kSinks,     Feature::kEmptyRows,  Feature::kPrefixAlone,
    Feature::kSwaPool,
};

}  // namespace attnbench
