// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/attention_backend.h"

namespace attnbench {

/// The smallest honest backend, the README's worked example: causal attention straight from
/// req_to_token, one query row after another, f32 arithmetic. Not registered; its test runs the
/// shared suite on it.
class Example : public AttentionBackend {
 public:
  [[nodiscard]] const BackendInfo& info() const noexcept override;
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override;
  void forward_extend(const AttentionIo& io, Stream& stream) override;

 private:
  float* scores_ = nullptr;  ///< [longest kv_len], in the workspace: forward allocates nothing
};

}  // namespace attnbench
