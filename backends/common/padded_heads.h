// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "backends/common/row_copies.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// Query heads that CUTLASS's kernel of latent attention computes, whatever a rank's share of them:
/// vLLM copies queries of fewer beside unwritten ones (v1/attention/backends/mla/cutlass_mla.py,
/// MAX_HEADS), and so does SGLang (sgl_kernel's cutlass_mla_decode).
inline constexpr int kPaddedHeads = 128;

/// What a variant of `base` is that computes kPaddedHeads heads whatever the rank's share:
/// "mla:padded_heads", which takes part only where it is named.
[[nodiscard]] BackendInfo padded_heads_info(BackendInfo base);

/// Latent attention by kernels that take kPaddedHeads query heads: queries of fewer are copied into
/// rows of so many heads, the others of which hold whatever the workspace does, as vLLM's new_empty
/// leaves them; the outputs of the layer's own heads are copied out. Both copies are in run().
class PaddedHeadsBackend : public Backend {
 public:
  PaddedHeadsBackend(std::unique_ptr<Backend> kernels, CopyRows copy);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Problem& problem) const override;
  [[nodiscard]] std::vector<KvLayout> formats(const Problem& problem) const override;
  [[nodiscard]] Numerics numerics(const Problem& problem) const override;
  [[nodiscard]] std::unique_ptr<Plan> plan(const ForwardBatch& batch, PlanMemory& memory) override;

 private:
  std::unique_ptr<Backend> kernels_;
  CopyRows copy_;
  BackendInfo info_;
};

/// The same around a backend of the kind `Kernels`.
template <class Kernels, CopyRows kCopy>
class PaddedHeads final : public PaddedHeadsBackend {
 public:
  PaddedHeads() : PaddedHeadsBackend(std::make_unique<Kernels>(), kCopy) {}
};

}  // namespace attnbench
