// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/contents/contents.h"
#include "lib/layout/lay_out.h"
#include "lib/parts/part_arrays.h"
#include "lib/scenario/case.h"

namespace attnbench {

// The cache of an indexer that scores representations of units or labels of keys, the versions that
// say which of the former are stale, and the channels that the latter have (IndexerInputs).

/// The request that has a page, and the page's number among its pages.
struct PageOwner {
  std::int64_t request = -1, page = 0;
};
[[nodiscard]] std::vector<PageOwner> page_owners(const Case& c, const BatchLayout& layout);

/// Bytes of a unit in the cache, for all groups, and of a key's label for all KV heads.
[[nodiscard]] std::int64_t representation_bytes(const Case& c);
/// Rows of representations of all groups, or of labels of all KV heads, one behind the other.
void store_representation(const Contents& contents, const Case& c, std::int64_t request,
                          std::int64_t unit, std::byte* to);

/// index_channels.
[[nodiscard]] PartInput channels_input(const Case& c);
/// unit_versions and row_versions.
[[nodiscard]] std::vector<PartInput> version_inputs(const Case& c, const BatchLayout& layout);

}  // namespace attnbench
