// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cascade/merge.h"
#include "backends/splitkv/launch.h"
#include "lib/backend/backend.h"

namespace attnbench::cascade {

/// Up to three launches: splitkv's kernels over the shared prefixes and over the suffixes, then the
/// merge of both.
class Planned final : public Plan {
 public:
  Planned(const ForwardBatch& batch, PlanMemory& memory);

  void run(Stream& stream) override;

 private:
  struct Pass {
    splitkv::Kernel kernel;
    splitkv::Params params;
  };
  Pass prefix_, suffix_;
  Merge merge_;
};

}  // namespace attnbench::cascade
