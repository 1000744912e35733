// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/base/counter_hash.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// Data sets that make different faults visible (measuring.md C.2). kTiming is what is timed.
enum class Fill : std::uint8_t { kNeedle, kTag, kSparseInt, kExtreme, kNormal, kTiming };

[[nodiscard]] std::string_view to_string(Fill fill);
[[nodiscard]] std::optional<Fill> fill_from_string(std::string_view name);

/// The values of a case's tensors, as a pure function of (case, fill, seed, request, position,
/// head, dim): no page, no index array, no device. The fixture writes them, the reference evaluates
/// them, and both regenerate any row at will.
///
/// Rows come back *as stored*: rounded to the storage dtype, and for the KV cache before k_scale or
/// v_scale is applied. K of a request's position p belongs to the shared prefix's stream while
/// p < shared_len, so that sharing requests agree.
class Contents {
 public:
  Contents(const Case& c, Fill fill);

  /// Q of query token `token` (0-based within the request) and query head `head`: head_dim_qk
  /// values.
  void q_row(std::int64_t request, std::int64_t token, int head, std::span<float> row) const;
  /// K at KV position `position` of KV head `head`: head_dim_qk values.
  void k_row(std::int64_t request, std::int64_t position, int head, std::span<float> row) const;
  /// V likewise: head_dim_v values; for kMlaAbsorbed the first head_dim_v values of the K row.
  void v_row(std::int64_t request, std::int64_t position, int head, std::span<float> row) const;
  /// Sink logit of query head `head`, in scaled-logit space; only if the layer has sinks.
  [[nodiscard]] float sink(int head) const;

  [[nodiscard]] Fill fill() const { return fill_; }

 private:
  struct Source {  ///< where a row's content comes from
    std::uint64_t stream;
    bool planted;  ///< a needle key lies here
  };
  [[nodiscard]] Source source_of(std::int64_t request, std::int64_t position) const;
  /// Value before rounding of K at the dims that q meets, and of the rest of the row.
  void fill_k(const Source& source, std::int64_t position, int head, std::span<float> row) const;
  void fill_v(const Source& source, std::int64_t position, int head, std::span<float> row) const;
  /// The direction that needle and extreme queries of KV head `head` look along: +1 or -1 per dim.
  [[nodiscard]] float direction(std::uint64_t key, std::size_t dim) const;

  const Case* case_;
  Fill fill_;
  std::uint64_t seed_;
  std::size_t match_begin_;  ///< dims [match_begin_, dk) carry planted logits: MLA keeps them off V
  std::vector<std::vector<std::int64_t>> prefix_needles_;   ///< sorted positions, by shared prefix
  std::vector<std::vector<std::int64_t>> request_needles_;  ///< sorted positions, by request
};

}  // namespace attnbench
