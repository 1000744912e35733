// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "lib/fixture/fixture.h"
#include "lib/report/index_array.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// A form in which kernels are told where the keys of a batch lie, or how to divide them.
struct IndexFormat {
  std::string_view name;                ///< the word that asks for it
  std::string_view readers;             ///< by whose kernels the arrays are read
  std::string (*why_not)(const Case&);  ///< why a case has no such arrays; empty: it has them
  /// Of a layout whose batch has its req_to_token_pool.
  IndexArrays (*build)(const Case&, const BatchLayout&);
};

/// All that lib/index and lib/batch can build of a batch.
[[nodiscard]] std::span<const IndexFormat> index_formats();

/// A format of one case: its arrays, or why there are none.
struct BuiltIndices {
  const IndexFormat* format = nullptr;
  std::string why_not;
  IndexArrays arrays;
};
[[nodiscard]] BuiltIndices build_indices(const IndexFormat& format, const Case& c,
                                         const BatchLayout& layout);

}  // namespace attnbench
