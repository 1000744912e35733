// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/batch/token_to_kv_pool.h"
#include "lib/cost/cost.h"
#include "lib/engines/cascade_choice.h"
#include "lib/fixture/fixture.h"
#include "lib/index/index_formats.h"
#include "lib/layout/lay_out.h"
#include "lib/layout/pool_demand.h"
#include "lib/scenario/case.h"
#include "lib/view/abridged_array.h"

namespace attnbench {

/// A format of a case that has been laid out, as arrays of its step for a usual GPU. The layout's
/// batch has its req_to_token_pool, unless the layer has no KV cache.
[[nodiscard]] BuiltIndices indices_of_case(const IndexFormat& format, const Case& c,
                                           const BatchLayout& layout);

/// What a case becomes when it is laid out.
struct ExpandedCase {
  const Case* source = nullptr;
  Cost cost;
  std::int64_t common_prefix_len = 0;
  CascadeChoice use_cascade;     ///< for a usual GPU, because expanding needs none
  std::int64_t num_pages = 0;    ///< of the pool, dummy page 0 included
  std::int64_t pages_used = 0;   ///< distinct pages that requests own
  PageUse page_use;              ///< of those
  std::int64_t state_slots = 0;  ///< of a recurrent layer, which has no pages; dummy included
  std::int64_t pool_bytes = 0;   ///< K, V and their scales, all pages; or states, all slots
  std::int64_t intermediate_state_bytes = 0;  ///< behind each token of a draft; elsewhere 0
  /// The cache in the layout that is asked for; in each that it can have where that is left open.
  struct Layout {
    KvLayout layout;
    std::vector<CacheBuffer> buffers;
  };
  std::vector<Layout> layouts;
  std::vector<AbridgedArray> arrays;
  std::vector<BuiltIndices> indices;  ///< of the formats that were asked for
  std::string arrays_left_out;        ///< why there are neither; empty otherwise
};

/// A part of a step that is measured.
struct ExpandedPart {
  Case of;
  Cost cost;
  std::string why_not;  ///< why no backend can run it; then without cost
};

[[nodiscard]] std::vector<ExpandedPart> expand_parts(const Case& c,
                                                     std::span<const StepPart> measured);

[[nodiscard]] ExpandedCase expand_case(const Case& c,
                                       std::span<const IndexFormat* const> formats = {});

/// The same for a recurrent layer.
[[nodiscard]] ExpandedCase expand_recurrent_case(const Case& c,
                                                 std::span<const IndexFormat* const> formats);

}  // namespace attnbench
