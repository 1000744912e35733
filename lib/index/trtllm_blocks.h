// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace attnbench {

/// Columns of the page table that TRT-LLM MLA reads: ceil(max_len / page_size), rounded up to a
/// multiple of lcm(128 / page_size, 4096 / page_size): the kernel reads 128 tokens of blocks at a
/// time and the index builder writes 4096 (SGLang's trtllm_mla_backend). page_size divides 128.
[[nodiscard]] std::int64_t trtllm_padded_blocks(std::int64_t max_len, std::int64_t page_size);

}  // namespace attnbench
