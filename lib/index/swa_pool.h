// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/forward_batch.h"
#include "lib/batch/swa_mapping.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// What SGLang's allocator for hybrid models has mapped once each request has given back the pages
/// that the layer's window, or its chunks, passed: the others, in the requests' order, lie on
/// pages 1, 2, ... of the pool of such layers. `num_pages` of the full pool count its dummy.
[[nodiscard]] FullToSwaMapping map_window_pages(const ForwardBatch& batch,
                                                const AttentionLayer& layer, std::int64_t page_size,
                                                std::int64_t num_pages);

}  // namespace attnbench
