// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/common/upload.h"
#include "backends/mla/params.h"
#include "lib/backend/attention_backend.h"

namespace attnbench {

/// Absorbed multi-head latent attention on a GPU through a block table (decode, verify and extend
/// alike): one latent row per token serves every query head as key and as value.
class MlaBackend final : public AttentionBackend {
 public:
  MlaBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override { run(io, stream); }
  void forward_extend(const AttentionIo& io, Stream& stream) override { run(io, stream); }

 private:
  void plan_blocks(const ForwardBatch& batch, const AttentionLayer& layer, Workspace& workspace);
  void plan_warpgroups(const ForwardBatch& batch, const AttentionLayer& layer,
                       Workspace& workspace);
  /// Appends the block table, uploads all and makes room for partial results.
  std::byte* place(Upload& upload, const ForwardBatch& batch, std::int64_t partial_rows,
                   Workspace& workspace);
  void run(const AttentionIo& io, Stream& stream) const;

  BackendInfo info_;
  MlaTile tile_ = MlaTile::kFew;
  MlaParams plan_;  ///< what planning decides; run() adds the tensors
};

}  // namespace attnbench
