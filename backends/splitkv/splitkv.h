// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/splitkv/launch.h"
#include "backends/splitkv/plan.h"
#include "lib/backend/attention_backend.h"

namespace attnbench {

/// Split-KV attention on a GPU through kv_indptr and kv_indices, after SGLang's Triton backend: the
/// keys of a few query rows are cut into pieces, whose results are merged by their LSEs. Extend
/// runs over prefix and new tokens alike, both read from the pool.
class SplitKvBackend final : public AttentionBackend {
 public:
  explicit SplitKvBackend(SplitRule rule = SplitRule::kFill);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override { run(io, stream); }
  void forward_extend(const AttentionIo& io, Stream& stream) override { run(io, stream); }

 private:
  void run(const AttentionIo& io, Stream& stream) const;

  BackendInfo info_;
  SplitRule rule_;
  bool many_rows_ = false;
  SplitKvParams plan_;  ///< what planning decides; run() adds the tensors
};

}  // namespace attnbench
