// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/forward_batch.h"
#include "lib/batch/swa_mapping.h"

namespace attnbench {

/// What SGLang's allocator for hybrid models has mapped once each request has given back the pages
/// that its window of `window` previous tokens passed: the others, in the requests' order, lie on
/// pages 1, 2, ... of the sliding-window layers' pool. `num_pages` of the full pool count its
/// dummy.
[[nodiscard]] FullToSwaMapping map_window_pages(const ForwardBatch& batch, std::int64_t window,
                                                std::int64_t page_size, std::int64_t num_pages);

}  // namespace attnbench
