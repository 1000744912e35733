// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backends/wrappers/row_copies.h"
#include "lib/backend/backend.h"

namespace attnbench {

/// Query heads that CUTLASS's kernel of latent attention computes, whatever a rank's share of them:
/// vLLM copies queries of fewer beside unwritten ones (v1/attention/backends/mla/cutlass_mla.py,
/// MAX_HEADS), and so does SGLang (sgl_kernel's cutlass_mla_decode).
inline constexpr int kPaddedHeads = 128;

/// Latent attention by `kernels` that take kPaddedHeads query heads: queries of fewer are copied
/// into rows of so many heads, the others of which hold whatever the workspace does, as vLLM's
/// new_empty leaves them; the outputs of the layer's own heads are copied out. Both copies are in
/// run(). The backend, "mla:padded_heads", takes part only where it is named.
[[nodiscard]] std::unique_ptr<Backend> with_padded_heads(std::unique_ptr<Backend> kernels,
                                                         CopyRows copy);

}  // namespace attnbench
