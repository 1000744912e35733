// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cascade/merge.h"
#include "backends/splitkv/launch.h"
#include "lib/backend/attention_backend.h"

namespace attnbench {

/// Shared prefixes once for all who share them, suffixes for each, merged by LSE (Hydragen;
/// FlashInfer's cascade). Requests that share nothing are all suffix.
class CascadeBackend final : public AttentionBackend {
 public:
  CascadeBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override;
  [[nodiscard]] Numerics numerics(const Case& c) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override { run(io, stream); }
  void forward_extend(const AttentionIo& io, Stream& stream) override { run(io, stream); }

 private:
  void run(const AttentionIo& io, Stream& stream) const;

  BackendInfo info_;
  /// What planning decides of a pass; run() adds the tensors.
  struct Pass {
    bool many_rows = false;
    SplitKvParams params;
  };
  Pass prefix_, suffix_;
  CascadeMerge merge_;
};

}  // namespace attnbench
