// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lib/batch/forward_batch.h"

namespace attnbench {

// A draft tree of N nodes is the list of its parents: parents[0] == -1 (the root, the last verified
// token) and 0 <= parents[i] < i. Every function below throws InternalError for anything else.
// A node sees the whole committed prefix, its ancestors and itself (EAGLE; SGLang's
// speculative/eagle_utils).

/// Parents of the tree that a draft model's selection describes: selected_index has N - 1 entries;
/// selected_index[i - 1] / topk is the parent slot of node i: 0 is the root, any other slot names
/// through parent_list the selected candidate that is the parent.
[[nodiscard]] std::vector<int> build_tree(std::span<const std::int64_t> selected_index,
                                          std::span<const std::int64_t> parent_list,
                                          std::int64_t topk);

/// Whether each node is the child of the one before: of as many nodes, 0 included.
[[nodiscard]] bool is_chain(std::span<const int> parents);
/// Depth of each node; the root's is 0.
[[nodiscard]] std::vector<int> tree_depths(std::span<const int> parents);
/// First child of each node, or -1 (the field's own spelling).
[[nodiscard]] std::vector<std::int32_t> retrive_next_token(std::span<const int> parents);
/// Next child of the same parent, or -1.
[[nodiscard]] std::vector<std::int32_t> retrive_next_sibling(std::span<const int> parents);

/// Row-major [N, N]; 1 where the row's node sees the column's (SGLang's QLEN_ONLY mask).
[[nodiscard]] std::vector<std::uint8_t> tree_visibility(std::span<const int> parents);
/// The same of every request's tree, concatenated: the last N columns of its mask. Requests that
/// fill a batch up have no tree, so their nodes see nothing.
[[nodiscard]] std::vector<std::uint8_t> tree_visibility(const SpecInfo& spec);
/// Nodes of the largest tree that pack_tree_rows() takes.
inline constexpr std::int64_t kMostPackedTreeNodes = 32;
/// QLEN_ONLY_BITPACKING: B * N rows of 1 (N <= 8), 2 (N <= 16) or 4 (N <= 32) bytes, bit j of the
/// little-endian row = column j.
[[nodiscard]] std::vector<std::uint8_t> pack_tree_rows(const SpecInfo& spec);

/// FULL_MASK: per request row-major [N, seq_len + N], concatenated; 1 = visible.
[[nodiscard]] std::vector<std::uint8_t> full_mask(
    std::span<const std::vector<int>> parents_per_request, std::span<const std::int32_t> seq_lens);
/// [B + 1], where each request's part of full_mask() begins, in elements.
[[nodiscard]] std::vector<std::int64_t> mask_indptr(std::int64_t draft_token_num,
                                                    std::span<const std::int32_t> seq_lens);

struct PackedMask {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> indptr;  ///< [B + 1] in bytes
};
/// FlashInfer's segment_packbits: each request's flat mask packed on its own, little-endian, the
/// last byte filled with zeros.
[[nodiscard]] PackedMask pack_mask(std::span<const std::uint8_t> mask,
                                   std::span<const std::int64_t> indptr);

/// Second stage of FlashAttention's two-stage verify: each draft token is a batch row of its own
/// over the draft slots, those it sees first.
struct DraftTable {
  std::vector<std::int32_t> page_table;     ///< [B * N, N] token slots
  std::vector<std::int32_t> cache_seqlens;  ///< [B * N] how many of the row are visible
};
/// out_cache_loc: [T] slots of the B * N draft tokens, and behind them of rows of no request.
[[nodiscard]] DraftTable two_stage_draft_table(const SpecInfo& spec,
                                               std::span<const std::int64_t> out_cache_loc);

/// Everything a target_verify batch carries; seq_lens are the committed prefixes. All trees must
/// have the same number of nodes. topk is the largest number of children of any node, so 1 means
/// chains.
[[nodiscard]] SpecInfo make_spec_info(std::span<const std::vector<int>> parents_per_request,
                                      std::span<const std::int32_t> seq_lens);

/// What build_tree() makes a draft tree of.
struct DraftSelection {
  std::vector<std::int64_t> selected_index;  ///< ascending candidates, one for each draft token
  std::vector<std::int64_t> parent_list;     ///< the candidate that slot `candidate / topk` extends
};

/// Candidates that `depth` steps propose: topk after the root, then topk after each of the topk
/// that a step keeps.
[[nodiscard]] constexpr std::int64_t draft_candidates(std::int64_t topk, std::int64_t depth) {
  return topk + (depth - 1) * topk * topk;
}

/// EAGLE-2's selection (Li et al., EMNLP 2024; SGLang's select_top_k_tokens and
/// organize_draft_results): a candidate scores the product of the probabilities on its way from the
/// root; each step expands the topk best candidates of the step before; the best `draft_tokens` of
/// all steps are kept. Of equal scores the earlier candidate is the better one, so a kept
/// candidate's parent, whose score is no smaller, is kept too.
///
/// `probability` of a candidate, given its parent, is at most 1; candidates of one parent are
/// neighbours. Throws InternalError when there are fewer candidates than draft tokens.
[[nodiscard]] DraftSelection select_draft_tokens(
    std::int64_t topk, std::int64_t depth, std::int64_t draft_tokens,
    const std::function<double(std::int64_t)>& probability);

}  // namespace attnbench
