// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/index/index_array.h"
#include "lib/index/index_formats.h"

namespace attnbench {

// The arrays of each index format, under the names that their readers give them. Each is called for
// steps alone that have them: index_formats.cpp says which.

[[nodiscard]] IndexArrays req_to_token_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays csr_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays csr_prefix_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays csr_window_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays page_table_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays varlen_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays block_table_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays slot_mapping_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays kv_splits_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays flashmla_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays trtllm_mla_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays local_attention_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays dual_chunk_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays multi_item_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays swa_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays tree_mask_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays draft_table_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays two_batch_overlap_arrays(const IndexStep& step);
[[nodiscard]] IndexArrays graph_padding_arrays(const IndexStep& step);

}  // namespace attnbench
