// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/wrappers/row_copies.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// `kernels`, which take each query of latent attention as one row, with queries that come apart
/// (AttentionLayer::queries_apart): each run() first joins them in the workspace, one launch on a
/// GPU, as SGLang (concat_mla_absorb_q) and vLLM (torch.cat) do before such kernels.
[[nodiscard]] std::unique_ptr<Backend> with_concat_mla_q(std::unique_ptr<Backend> kernels,
                                                         CopyRows copy);

}  // namespace attnbench
