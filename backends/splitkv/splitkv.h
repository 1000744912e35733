// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "backends/splitkv/plan.h"
#include "lib/backend/backend.h"
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
  info.reads_lists_at_run = true;
  info.updates_in_pipelines = true;
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

/// Split-KV attention on a GPU through kv_indptr and kv_indices, after SGLang's Triton backend: the
/// keys of a few query rows are cut into pieces, whose results are merged by their LSEs. Extend
/// runs over prefix and new tokens alike, both read from the pool.
class SplitKvBackend final : public Backend {
 public:
  explicit SplitKvBackend(SplitRule rule = SplitRule::kFill);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  /// Contiguous rows that share their scales: one of the tensor, of the head or of the request.
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  BackendInfo info_;
  SplitRule rule_;
};

}  // namespace attnbench::splitkv
