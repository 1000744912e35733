// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/fixture/fixture.h"
#include "lib/report/index_array.h"
#include "lib/scenario/case.h"

namespace attnbench {

// The arrays of each index format (index_formats.h says for which cases), under the names that
// their readers give them. The layout's batch has its req_to_token_pool.

[[nodiscard]] IndexArrays req_to_token_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays csr_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays csr_prefix_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays csr_window_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays page_table_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays varlen_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays block_table_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays slot_mapping_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays kv_splits_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays flashmla_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays trtllm_mla_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays local_attention_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays swa_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays tree_mask_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays draft_table_arrays(const Case& c, const BatchLayout& layout);
[[nodiscard]] IndexArrays graph_padding_arrays(const Case& c, const BatchLayout& layout);

}  // namespace attnbench
