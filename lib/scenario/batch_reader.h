// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "lib/batch/forward_mode.h"
#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/case.h"
#include "lib/scenario/length_reader.h"

namespace attnbench {

/// A tree that EAGLE-2 draws: `tokens` in all with the root, the best of what `depth` steps propose
/// (lib/batch/draft_tree.h).
struct GrownTree {
  std::int64_t topk, depth, tokens;
};

/// What the draft model of a grown tree says of a candidate, given its parent: each child takes a
/// seeded share, a half or more, of what its better siblings leave.
[[nodiscard]] double draft_probability(std::uint64_t seed, std::int64_t topk,
                                       std::int64_t candidate);

/// How the draft tokens of target_verify requests hang together.
struct TreeSpec {
  Place place;
  std::variant<GrownTree, std::vector<int>> form;  ///< the latter: parents, -1 for the root

  [[nodiscard]] std::int64_t tokens() const;
  /// Children that a node of a grown tree may have; 0 where parents are listed.
  [[nodiscard]] int topk() const;
  /// Parent of each token, parents first; a grown tree varies with `seed`.
  [[nodiscard]] std::vector<int> parents(std::uint64_t seed) const;
};

[[nodiscard]] std::optional<TreeSpec> read_tree(const YamlNode& node, Problems& problems);

/// `count` requests alike: q_len new tokens, kv_len keys in all.
struct BatchSegment {
  std::int64_t count, q_len, kv_len;

  friend bool operator==(const BatchSegment&, const BatchSegment&) = default;
};

/// What is wrong with a batch string, and where in it.
struct BatchStringError {
  std::size_t offset, length;
  std::string message, hint;
};

/// vLLM's batch string (benchmarks/attention_benchmarks/batch_spec.py), with its exact meaning:
///   spec := segment ("_" segment)*     segment := [count] "q" q_len ["k"] ["s" kv_len ["k"]]
/// count defaults to 1, kv_len to q_len, k multiplies by 1024. Stricter than vLLM where its parser
/// lets batches vanish: kv_len < q_len, a count or length of zero, and trailing text are errors.
[[nodiscard]] std::variant<std::vector<BatchSegment>, BatchStringError> parse_batch_string(
    std::string_view text);

/// A run of tokens that the file lets several requests share.
struct PrefixSpec {
  std::string name;
  std::int64_t length = 0;            ///< tokens, those of its ancestors included
  std::vector<PrefixSpec> ancestors;  ///< that it extends, the first one first; without theirs
};

/// Reads the prefixes of a file, in any order. One with a mistake is still declared, so that its
/// uses are not reported as further mistakes.
[[nodiscard]] std::vector<PrefixSpec> read_prefixes(const YamlNode& node, Problems& problems);

/// Chunk `index` (from 0) of a prompt that is prefilled `size` tokens a step.
struct ChunkSpec {
  std::int64_t size = 0, index = 0;
  Place index_place;
};

/// The branches of a draft model's decode.
struct DraftSpec {
  std::int64_t topk = 0;
  std::int64_t step = 0;  ///< from 0: each branch has that many tokens behind it, and a new one
  Place place;
};

/// Tokens of a block diffusion model's block.
struct BlockSpec {
  std::int64_t size = 0;
  Place place;
};

/// Items that a prompt ends in, to be scored apart from each other.
struct ItemsSpec {
  std::vector<std::int64_t> lengths;
  Place place;
};

/// Bidirectional spans of a prompt, among its keys.
struct SpansSpec {
  std::vector<KeyRun> runs;  ///< ascending
  Place place;
};

/// One entry of a batch as it is written, before lengths are drawn or derived.
struct BatchEntry {
  Place place;
  std::string name;
  Place name_place;
  ForwardMode mode = ForwardMode::kDecode;
  bool is_draft_decode = false;  ///< the mode is decode, of a draft model
  Place mode_place;
  std::int64_t count = 1;
  std::optional<LengthSpec> q_len, prefix_len, kv_len, prompt_len, encoder_len;
  std::optional<ChunkSpec> chunk;
  std::optional<TreeSpec> tree;
  std::optional<DraftSpec> draft;
  std::optional<PrefixSpec> prefix;
  bool empty_rows = false;  ///< kv_len may be below q_len
  Place empty_rows_place;
  std::optional<BlockSpec> block;
  std::optional<ItemsSpec> items;
  std::optional<SpansSpec> spans;
};

/// The mode as its author wrote it.
[[nodiscard]] std::string_view mode_word(const BatchEntry& entry);

/// The entries that could be read; their lengths are checked even when another entry is bad.
struct BatchEntries {
  std::vector<BatchEntry> entries;
  bool all_valid = false;
};

/// Reads a list of entries or a vLLM batch string.
[[nodiscard]] BatchEntries read_batch(const YamlNode& node, const std::vector<PrefixSpec>& prefixes,
                                      Problems& problems);

}  // namespace attnbench
