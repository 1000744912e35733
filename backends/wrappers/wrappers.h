// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "backends/wrappers/merge_states.h"
#include "backends/wrappers/row_copies.h"
#include "lib/backend/backend.h"

namespace attnbench {

// Wrappers of a backend that need nothing but its kernels, and how states are merged or rows are
// copied where it runs.

/// `kernels`, which take each query of latent attention as one row, with queries that come apart
/// (AttentionLayer::queries_apart): each run() first joins them in the workspace, one launch on a
/// GPU, as SGLang (concat_mla_absorb_q) and vLLM (torch.cat) do before such kernels.
[[nodiscard]] std::unique_ptr<Backend> with_concat_mla_q(std::unique_ptr<Backend> kernels,
                                                         CopyRows copy);

/// How kernels find the keys of an item, which begin and end anywhere among the pages: by their
/// slots, or by pages of one token, which only some cache layouts have.
enum class ItemKeys : std::uint8_t { kBySlot, kInPages };

/// `kernels`, which know no items, with multi-item scoring in two passes. All tokens from the first
/// delimiter on see the keys before it, in a pass without a mask. Then each item is a causal
/// request of its own, whose delimiter stands before its first key and sees nothing. What items
/// hide from each other is not read, as in FlashInfer's kernel, which skips such tiles
/// (prefill.cuh).
[[nodiscard]] std::unique_ptr<Backend> with_item_passes(std::unique_ptr<Backend> kernels,
                                                        ItemKeys keys, MergeStates merge);

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

/// Prompts as SGLang has FlashInfer compute them (flashinfer_backend.py, forward_extend), by
/// `kernels`: the new tokens attend to each other in the step's k_new and v_new, which lie side by
/// side, then all of them to the cached prefixes, page by page and without a mask; both are merged
/// by their LSEs. Without a prefix in the batch the pages are not read at all. A cache with scales
/// other than 1 holds other numbers than k_new and v_new, so that its pages are all that is read.
/// The backend, "paged_fa:ragged_paged", takes part only where it is named.
[[nodiscard]] std::unique_ptr<Backend> with_ragged_keys(std::unique_ptr<Backend> kernels,
                                                        MergeStates merge);

/// Draft trees by `kernels` in two passes instead of under one mask, as SGLang's FlashAttention
/// backend verifies trees with branches: all nodes attend to the committed prefix without
/// causality, then each attends to the slots of the nodes that it sees, as a request of its own;
/// both are merged by their LSEs. The backend, "paged_fa:two_stage", takes part only where it is
/// named.
[[nodiscard]] std::unique_ptr<Backend> with_two_stages(std::unique_ptr<Backend> kernels,
                                                       MergeStates merge);

/// Chunked local attention as engines give it to `kernels` without chunks: plan() cuts each request
/// into virtual ones, each within one chunk and plainly causal, builds their page table
/// (lib/index/local_attention.h) and hands the step to the kernels. The backend,
/// "paged_fa:virtual_batches", takes part only where it is named.
[[nodiscard]] std::unique_ptr<Backend> with_virtual_batches(std::unique_ptr<Backend> kernels);

}  // namespace attnbench
