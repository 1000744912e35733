// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/block_table.h"

#include <algorithm>
#include <numeric>

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {

PageTable build_block_table(const ForwardBatch& batch, std::int64_t page_size) {
  return build_page_table(batch, page_size, -1);
}

PageTable build_trtllm_block_table(const ForwardBatch& batch, std::int64_t page_size) {
  std::int64_t max_len = 0;
  for (std::int64_t r = 0; r < batch.batch_size; ++r) max_len = std::max(max_len, batch.kv_len(r));
  return build_page_table(batch, page_size, -1, trtllm_padded_blocks(max_len, page_size));
}

std::int64_t trtllm_padded_blocks(std::int64_t max_len, std::int64_t page_size) {
  expects(page_size > 0 && 128 % page_size == 0, "TRT-LLM MLA pages divide 128 tokens");
  const std::int64_t multiple = std::lcm(128 / page_size, 4096 / page_size);
  return round_up(ceil_div(max_len, page_size), multiple);
}

std::vector<std::int64_t> slot_mapping(std::span<const std::int32_t> block_row,
                                       std::span<const std::int64_t> positions,
                                       std::int64_t block_size) {
  std::vector<std::int64_t> slots;
  slots.reserve(positions.size());
  for (const std::int64_t position : positions) {
    if (position == -1) {
      slots.push_back(-1);
      continue;
    }
    expects(position >= 0 && position / block_size < static_cast<std::int64_t>(block_row.size()),
            "a position outside the block table");
    const std::int64_t block = block_row[static_cast<std::size_t>(position / block_size)];
    expects(block >= 0, "a position in a block that is not allocated");
    slots.push_back(block * block_size + position % block_size);
  }
  return slots;
}

}  // namespace attnbench
