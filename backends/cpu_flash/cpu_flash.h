// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cpu_flash/flash_kernels.h"
#include "backends/cpu_flash/plan.h"
#include "backends/cpu_flash/tile_task.h"
#include "lib/backend/attention_backend.h"

namespace attnbench {

/// Tiled attention with an online softmax straight from the paged cache, on all threads; long
/// contexts are split and merged by their LSE. Kernels are those of the device's instruction set.
class CpuFlashBackend final : public AttentionBackend {
 public:
  CpuFlashBackend();

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream&) override { run(io); }
  void forward_extend(const AttentionIo& io, Stream&) override { run(io); }

 private:
  void run(const AttentionIo& io) const;

  BackendInfo info_;
  const FlashKernels* kernels_ = nullptr;  ///< of the device's instruction set
  FlashPlan plan_;
  FlashPartials partials_;
  std::vector<FlashScratch> scratch_;  ///< by thread
};

}  // namespace attnbench
