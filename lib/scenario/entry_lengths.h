// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lib/config/problems.h"
#include "lib/scenario/batch_reader.h"

namespace attnbench {

struct RequestLengths {
  std::int64_t q_len, kv_len;
};

/// The lengths of an entry's requests. Any two of q_len, prefix_len and kv_len decide the third;
/// the mode, a tree, a chunk or a shared prefix can stand for one of them.
[[nodiscard]] std::optional<std::vector<RequestLengths>> settle_lengths(const BatchEntry& entry,
                                                                        bool cross,
                                                                        std::uint64_t seed,
                                                                        Problems& problems);

/// Of a model's cross layer: the encoder's tokens of each request, `of_model` where the entry does
/// not say; 0: the model has no such figure. All other lengths of the entry are its decoder's.
[[nodiscard]] std::optional<std::vector<std::int64_t>> settle_encoder_lens(const BatchEntry& entry,
                                                                           std::int64_t of_model,
                                                                           std::uint64_t seed,
                                                                           Problems& problems);

}  // namespace attnbench
