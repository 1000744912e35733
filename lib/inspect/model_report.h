// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

#include "lib/cost/model_memory.h"
#include "lib/model/model_geometry.h"

namespace attnbench {

/// A model on `memory.tp` ranks, and what is asked about their memory.
struct ModelQuestion {
  std::string name;  ///< preset, or path of a config.json
  ModelGeometry model;
  ModelMemory memory;
  std::optional<std::int64_t> gpu_bytes;     ///< of one rank's GPU
  std::optional<std::int64_t> weight_bytes;  ///< of the whole model; the ranks share them evenly
  std::optional<std::int64_t> context;       ///< tokens of a request

  /// What is left of the GPU beside the rank's weights, 0 if they do not fit, all of it where they
  /// are unknown; none where the GPU's memory is.
  [[nodiscard]] std::optional<std::int64_t> bytes_for_cache() const;
  /// Whole pages of tokens that fit there where every layer keeps every token; none without keys.
  [[nodiscard]] std::optional<std::int64_t> tokens_that_fit() const;
  /// Requests of `context` tokens, whose windows, chunks and states are counted as such.
  [[nodiscard]] std::optional<std::int64_t> requests_that_fit() const;
  /// Of a request of `context` tokens in SGLang, where an encoder's tokens take more room; none
  /// without an encoder. Whisper's takes still more: its encoder's layers have slots there, too.
  [[nodiscard]] std::optional<std::int64_t> one_row_bytes() const;
};

/// Heads of a rank, and by kind of layer how many there are, whether attnbench runs them, and what
/// a token and a request keep in memory.
void write_model_table(const ModelQuestion& question, std::ostream& out);
void write_model_json(const ModelQuestion& question, std::ostream& out);

}  // namespace attnbench
