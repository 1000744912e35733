// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/base/count.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// What of the cache the batch reads. A row is a key and its value under one KV head; where keys
/// are chosen, those of KV heads may differ. What several query heads of one choose is read once.
struct Reads {
  Count pairs = 0;          ///< of a query token and a key, once for each list of chosen keys
  Count streamed_rows = 0;  ///< shared rows once for each request
  Count unique_rows = 0;    ///< distinct ones
  Count table_entries = 0;  ///< of pages that hold a key that a query sees
};

/// Own keys per request, those that a prefix adds once. Only whole pages are shared, so what a
/// prefix leaves on its last, partial page is every request's own. Each request has table entries
/// of its own; ragged keys have one, where the request's begin.
[[nodiscard]] Reads reads_of(const Case& c);

}  // namespace attnbench
