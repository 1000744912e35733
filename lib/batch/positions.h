// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace attnbench {

/// 0, lens[0], lens[0] + lens[1], ...: one entry more than lens (qo_indptr, kv_indptr, cu_seqlens;
/// without its last entry extend_start_loc).
[[nodiscard]] std::vector<std::int32_t> indptr_of(std::span<const std::int32_t> lens);

/// Positions of a decode step: seq_len - 1, which counts the new token; 0 for padding rows of
/// length 0.
[[nodiscard]] std::vector<std::int64_t> decode_positions(std::span<const std::int32_t> seq_lens);

/// prefix, prefix + 1, ... prefix + extend - 1 of each request, concatenated.
[[nodiscard]] std::vector<std::int64_t> extend_positions(
    std::span<const std::int32_t> prefix_lens, std::span<const std::int32_t> extend_seq_lens);

/// Committed length plus depth in the draft tree (root: depth 0), node by node;
/// parents_per_request as for make_spec_info().
[[nodiscard]] std::vector<std::int64_t> verify_positions(
    std::span<const std::int32_t> seq_lens, std::span<const std::vector<int>> parents_per_request);

}  // namespace attnbench
