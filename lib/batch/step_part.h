// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attnbench {

/// What a plan does of a layer's step. Engines write this step's keys and values into the cache by
/// a kernel of its own before attention reads them (SGLang's set_kv_buffer, vLLM's
/// reshape_and_cache). Before the first layer they build the index arrays that attention reads in
/// all of them (SGLang's create_flashinfer_kv_indices_triton). Where a layer has a selection, they
/// choose its keys by the logits of an indexer (vLLM's top_k_per_row_decode), which a kernel before
/// computes (DeepGEMM's fp8_paged_mqa_logits). The indexer has a cache of its own, to which another
/// kernel brings the index key of each new token (vLLM's indexer_k_quant_and_cache). A layer runs
/// all of these, each on what the one before has just left. Where a layer has compressed rows
/// beside its tokens (DeepSeek-V4), another one makes them.
enum class StepPart : std::uint8_t {
  kAttention,   ///< this step's keys and values are in the cache already
  kKvWrite,     ///< k_new and v_new go to the slots out_cache_loc, and nothing is computed
  kBoth,        ///< first the write, then attention over what was written
  kIndex,       ///< the arrays of an IndexForm are built, and nothing is computed
  kSelect,      ///< the keys of the highest IndexScores are listed, and nothing is computed
  kIndexer,     ///< the IndexScores of IndexerInputs are computed, and nothing else
  kIndexWrite,  ///< the new tokens' index keys go to the indexer's cache (IndexWrite), and no more
  kCompress,  ///< the layer's own compressed rows are made of new tokens (IndexWrite), and no more
  kPipeline,  ///< kIndexer, then kSelect of these scores, then kAttention over these lists
  kKvPipeline,  ///< first kKvWrite, then kPipeline; the indexer's cache is complete
  kLayer,       ///< first kKvWrite and kIndexWrite, then kPipeline over what was written
};

/// A part of a step: what it leaves, and how it is spoken of.
struct StepPartRow {
  StepPart part = StepPart::kAttention;
  std::string_view name{};  ///< in scenarios and results
  bool attends = false;     ///< leaves out and lse, which are compared within bounds
  bool writes_kv = false;   ///< leaves keys and values in slots, which are compared exactly
  /// Leaves rows of a cache that is not the tokens', which are compared exactly: the indexer's, or
  /// that of compressed rows.
  bool writes_index = false;
  /// Leaves arrays, or index keys, that no attention leaves, which are judged whole. A backend says
  /// that it builds them (BackendInfo), and takes part in no other step unless it is named.
  bool builds = false;
  /// Its cache is there: attention reads it, a write fills it, and index arrays lead into it.
  bool has_cache = true;
  std::string_view refusal{};   ///< of who does not say that it builds them
  std::string_view fact{};      ///< beside a case's id; {}: the IndexForm
  std::string_view on_help{};   ///< of --step
  std::string_view as_key{};    ///< of measure.step
  std::string_view as_field{};  ///< of a record's step
};

inline constexpr std::array kStepPartRows = {
    StepPartRow{.part = StepPart::kAttention,
                .name = "attention",
                .attends = true,
                .on_help = "attention",
                .as_key = "`attention` over keys that are in the cache",
                .as_field = "attention"},
    StepPartRow{.part = StepPart::kKvWrite,
                .name = "kv_write",
                .writes_kv = true,
                .fact = "KV write alone",
                .on_help = "kv_write (of the step's keys and values into the cache)",
                .as_key = "`kv_write`, which brings the new keys and values to their slots",
                .as_field = "the write of its keys and values into the cache"},
    StepPartRow{.part = StepPart::kBoth,
                .name = "both",
                .attends = true,
                .writes_kv = true,
                .fact = "KV write, then attention",
                .on_help = "both",
                .as_key = "`both`",
                .as_field = "both"},
    StepPartRow{.part = StepPart::kIndex,
                .name = "index",
                .builds = true,
                .refusal = "it builds no index arrays",
                .fact = "{} arrays alone",
                .on_help = "index (the arrays that say where keys lie)",
                .as_key = "`index`, which builds the arrays that tell attention where the keys lie",
                .as_field = "the build of index arrays"},
    StepPartRow{.part = StepPart::kSelect,
                .name = "select",
                .builds = true,
                .has_cache = false,
                .refusal = "it selects no keys",
                .fact = "selection alone",
                .on_help = "select (the keys of an indexer's highest logits)",
                .as_key = "`select`, which lists the keys of an indexer's highest logits for a "
                          "layer with a `selection`",
                .as_field = "the selection of keys by their logits"},
    StepPartRow{.part = StepPart::kIndexer,
                .name = "indexer",
                .builds = true,
                .has_cache = false,
                .refusal = "it scores no keys",
                .fact = "indexer alone",
                .on_help = "indexer (the logits by which keys are selected)",
                .as_key = "`indexer`, which computes the logits by which `select` chooses",
                .as_field = "the logits by which keys are selected"},
    StepPartRow{.part = StepPart::kIndexWrite,
                .name = "index_write",
                .writes_index = true,
                .builds = true,
                .has_cache = false,
                .refusal = "it writes no index keys",
                .fact = "index write alone",
                .on_help = "index_write (of the step's keys for the indexer into its cache)",
                .as_key = "`index_write`, which brings the new tokens' index keys to the cache of "
                          "the indexer",
                .as_field = "the write of its index keys into the indexer's cache"},
    StepPartRow{.part = StepPart::kCompress,
                .name = "compress",
                .writes_index = true,
                .builds = true,
                .has_cache = false,
                .refusal = "it makes no compressed rows",
                .fact = "compressor alone",
                .on_help = "compress (of the step's tokens into the layer's compressed rows)",
                .as_key = "`compress`, which makes the compressed rows that the step's tokens "
                          "complete",
                .as_field = "the softmax that makes compressed rows of tokens"},
    StepPartRow{
        .part = StepPart::kPipeline,
        .name = "pipeline",
        .attends = true,
        .builds = true,
        .refusal = "it is no pipeline: INDEXER+SELECTOR+ATTENTION",
        .fact = "indexer, selection, attention",
        .on_help = "pipeline (indexer, select, attention, each on what the one before left)",
        .as_key = "`pipeline`, which is `indexer`, `select` and `attention` one after the "
                  "other, each on what the one before left",
        .as_field = "the logits, the selection and attention over the selected keys"},
    StepPartRow{
        .part = StepPart::kKvPipeline,
        .name = "kv_pipeline",
        .attends = true,
        .writes_kv = true,
        .builds = true,
        .refusal = "it is no pipeline behind a write: WRITER+INDEXER+SELECTOR+ATTENTION",
        .fact = "KV write, indexer, selection, attention",
        .on_help = "kv_pipeline (kv_write, then pipeline)",
        .as_key = "`kv_pipeline`, which is first `kv_write` and then `pipeline`",
        .as_field = "the write of keys and values, the logits, the selection and attention"},
    StepPartRow{
        .part = StepPart::kLayer,
        .name = "layer",
        .attends = true,
        .writes_kv = true,
        .writes_index = true,
        .builds = true,
        .refusal = "it is no pipeline behind both writes: "
                   "WRITER+INDEX_WRITER+INDEXER+SELECTOR+ATTENTION",
        .fact = "KV write, index write, indexer, selection, attention",
        .on_help = "layer (kv_write, index_write, then pipeline)",
        .as_key = "`layer`, which is first `kv_write`, then `index_write` and then `pipeline`",
        .as_field = "both writes, the logits, the selection and attention"},
};

[[nodiscard]] constexpr const StepPartRow& row_of(StepPart part) {
  return kStepPartRows[static_cast<std::size_t>(part)];
}

/// In the order of the rows.
inline constexpr auto kStepParts = [] {
  std::array<StepPart, kStepPartRows.size()> parts{};
  for (std::size_t i = 0; i < parts.size(); ++i) parts[i] = kStepPartRows[i].part;
  return parts;
}();
static_assert([] {
  for (std::size_t i = 0; i < kStepParts.size(); ++i) {
    if (static_cast<std::size_t>(kStepParts[i]) != i) return false;
  }
  return true;
}());

[[nodiscard]] constexpr bool writes_kv(StepPart part) { return row_of(part).writes_kv; }
[[nodiscard]] constexpr bool writes_index(StepPart part) { return row_of(part).writes_index; }
[[nodiscard]] constexpr bool attends(StepPart part) { return row_of(part).attends; }
[[nodiscard]] constexpr bool builds(StepPart part) { return row_of(part).builds; }
/// Whether stages of a layer with a selection run one after the other.
[[nodiscard]] constexpr bool is_pipeline(StepPart part) { return attends(part) && builds(part); }
[[nodiscard]] constexpr bool has_cache(StepPart part) { return row_of(part).has_cache; }
[[nodiscard]] constexpr std::string_view to_string(StepPart part) { return row_of(part).name; }

/// " kv_write" behind a cache state; empty for attention, which needs no word.
[[nodiscard]] std::string step_suffix(StepPart part);
/// One text of all parts as a list, with `before_last` before the last one: ", or ".
[[nodiscard]] std::string list_of_parts(std::string_view StepPartRow::*text,
                                        std::string_view before_last);

}  // namespace attnbench
