// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/pool_shape.h"

#include "lib/base/dtype.h"

namespace attnbench {
namespace {

/// DeepSeek-V4 (transformers 5.23.0, deepseek_v4/modeling_deepseek_v4.py): rows of 4 tokens
/// overlap, states are in f32.
PoolShape compressor(std::int64_t ratio, std::int64_t dims, DType row) {
  return {.keys = ratio,
          .dims = dims,
          .overlaps = ratio == 4,
          .dtype = DType::kF32,
          .waits_with_ape = true,
          .row = row};
}

}  // namespace

PoolShape pool_shape(const Case& c) {
  if (c.step == StepPart::kCompress) {
    return compressor(c.layer.compress_ratio, c.layer.head_dim_qk, DType::kBF16);
  }
  const Selection& selection = c.layer.selection;
  const DType row = selection.scores_in_bf16() ? DType::kBF16 : DType::kE4M3;
  if (selection.compressed && selection.pool() > 1) {
    return compressor(selection.pool(), IndexerInputs::kDim, row);
  }
  return {.keys = selection.pool(), .row = row};
}

}  // namespace attnbench
