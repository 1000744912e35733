// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "backends/splitkv/plan.h"
#include "lib/backend/tuning.h"

namespace attnbench::splitkv {

/// What `attnbench list backends` says, with and without nvcc.
[[nodiscard]] inline BackendInfo info(SplitRule rule) {
  BackendInfo info;
  info.name = "splitkv";
  info.version = "1";
  info.description = "tensor-core tiles through token indices, keys split, merged by LSE";
  info.index_format = "kv_indptr/kv_indices";
  info.device = DeviceKind::kCuda;
  info.cuda_graph = CudaGraphSupport::kUniformBatch;
  // Padding requests have no work: nothing is read for them, and nothing written.
  info.padding_seq_len = 0;
  info.writes_fp8_outputs = true;
  switch (rule.kind) {
    case SplitRule::kFill:
      return info;
    case SplitRule::kDynamic:
      info.name += ":dynamic";
      info.description =
          "splitkv, decodes in as many pieces as SGLang's Triton backend has, at most 8";
      break;
    case SplitRule::kFixedTile:
      if (rule.tile_keys != SplitRule::kUsualTileKeys) {
        info.description = "splitkv, decodes in pieces of so many keys: the same bits in any batch";
        return tuned(std::move(info), "tile", rule.tile_keys);
      }
      info.name += ":fixed_tile";
      info.description = "splitkv, decodes in pieces of 256 keys: the same bits in any batch";
      break;
    case SplitRule::kPieces:
      info.description = "splitkv, decodes in so many pieces";
      return tuned(std::move(info), "splits", rule.pieces);
  }
  info.by_default = false;
  return info;
}

}  // namespace attnbench::splitkv
