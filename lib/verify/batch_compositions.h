// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "lib/scenario/case.h"

namespace attnbench {

/// Some of a case's requests, in another order, as a batch of their own.
struct BatchComposition {
  std::vector<std::size_t> requests;  ///< indices into the requests of the whole case
  Case step;                          ///< whose requests keep the contents that they had
};

/// The case of these requests alone, in this order.
[[nodiscard]] BatchComposition composition_of(const Case& c, std::vector<std::size_t> requests);

/// `count` batches of 1 to n of the case's n requests, drawn with the case's seed: the number of
/// requests, which ones, and their order. Each request is in some batch where count is n or more.
[[nodiscard]] std::vector<BatchComposition> batch_compositions(const Case& c, int count);

}  // namespace attnbench
