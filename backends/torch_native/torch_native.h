// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/attention_backend.h"

namespace attnbench {

/// Dense attention request by request, as SGLang's torch_native backend does it: gather, scores,
/// softmax, weighted sum.
class TorchNativeBackend final : public AttentionBackend {
 public:
  TorchNativeBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override;
  void forward_extend(const AttentionIo& io, Stream& stream) override;

 private:
  /// Dense row-major matrices in the workspace.
  struct Scratch {
    double* total = nullptr;  ///< [kBlockRows, dv] of O, where there are many keys
    float* k = nullptr;       ///< [max kv_len, dk]
    float* v = nullptr;       ///< [max kv_len, dv]
    float* q = nullptr;       ///< [kBlockRows, dk]
    float* scores = nullptr;  ///< [kBlockRows, max kv_len]
    float* out = nullptr;     ///< [kBlockRows, dv]
  };
  static constexpr std::int64_t kBlockRows = 64;

  void gather(const AttentionIo& io, std::int64_t request, int kv_head) const;
  /// One request under one query head, kBlockRows queries at a time.
  void attend(const AttentionIo& io, std::int64_t request, int head) const;
  void attend_all(const AttentionIo& io) const;
  /// out = weights * v.
  void weigh(std::int64_t count, std::int64_t keys, std::int64_t dv) const;
  void finish_row(const AttentionIo& io, std::int64_t request, std::int64_t token, int head,
                  std::int64_t row) const;

  BackendInfo info_;
  Scratch scratch_;
};

}  // namespace attnbench
