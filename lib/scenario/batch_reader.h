// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/batch/forward_mode.h"
#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/case.h"
#include "lib/scenario/draft_tree.h"
#include "lib/scenario/length_reader.h"
#include "lib/scenario/prefix_reader.h"

namespace attnbench {

/// Reads `padding` of a mix, which may be null: a number of requests, or a map that also says which
/// length they have, and how many rows of query tokens belong to no request.
[[nodiscard]] std::optional<BatchPadding> read_padding(const YamlNode* node, Problems& problems);

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
