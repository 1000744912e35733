// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/trtllm_blocks.h"

#include <numeric>

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {

std::int64_t trtllm_padded_blocks(std::int64_t max_len, std::int64_t page_size) {
  expects(page_size > 0 && 128 % page_size == 0, "TRT-LLM MLA pages divide 128 tokens");
  const std::int64_t multiple = std::lcm(128 / page_size, 4096 / page_size);
  return round_up(ceil_div(max_len, page_size), multiple);
}

}  // namespace attnbench
