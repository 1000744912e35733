// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lib/batch/forward_batch.h"
#include "lib/index/page_table.h"

namespace attnbench {

/// FlashMLA's and CUTLASS MLA's block_kv_indices: [B, ceil(longest / page_size)], -1 beyond each
/// request's blocks.
[[nodiscard]] PageTable build_block_table(const ForwardBatch& batch, std::int64_t page_size);

/// TRT-LLM MLA's table: the same, its width padded by trtllm_padded_blocks().
[[nodiscard]] PageTable build_trtllm_block_table(const ForwardBatch& batch, std::int64_t page_size);

/// ceil(max_len / page_size), rounded up to a multiple of lcm(128 / page_size, 4096 / page_size):
/// the kernel reads 128 tokens of blocks at a time and the index builder writes 4096 (SGLang's
/// trtllm_mla_backend). page_size divides 128.
[[nodiscard]] std::int64_t trtllm_padded_blocks(std::int64_t max_len, std::int64_t page_size);

/// vLLM's slot_mapping of one request: block_row[position / block_size] * block_size + position %
/// block_size; -1 (skip the write) for position -1.
[[nodiscard]] std::vector<std::int64_t> slot_mapping(std::span<const std::int32_t> block_row,
                                                     std::span<const std::int64_t> positions,
                                                     std::int64_t block_size);

}  // namespace attnbench
