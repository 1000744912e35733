// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/batch/chosen_keys.h"
#include "lib/batch/forward_batch.h"
#include "lib/batch/key_run.h"
#include "lib/model/attention_layer.h"

namespace attnbench {

/// The runs in ascending order, those that touch or overlap joined, empty ones left out.
[[nodiscard]] std::vector<KeyRun> united(std::vector<KeyRun> runs);
/// Keys of runs that do not overlap.
[[nodiscard]] std::int64_t count_keys(std::span<const KeyRun> runs);

/// What of a request decides, beside its layer, which keys its queries see.
struct QueriesAndKeys {
  std::int64_t q_len = 0;           ///< query tokens; the last one is at position kv_len - 1
  std::int64_t kv_len = 0;          ///< tokens; compressed rows are keys behind these
  std::vector<int> tree_parents;    ///< [q_len] of a draft tree; empty: there is none
  std::vector<std::int64_t> items;  ///< lengths of the items that the keys end in; empty: none
  std::vector<KeyRun> spans;        ///< bidirectional spans among the keys; empty: none
  /// The queries see no key at this position or behind it: kv_len - q_len in a pass over the prefix
  /// only. None: kv_len.
  std::optional<std::int64_t> keys_read;
};

/// Which keys each query of a request sees. All of the program that must know it reads it here. The
/// oracle, what checks the oracle, planted faults and kernels each have the rule on their own,
/// because they are compared with each other.
class KeySet {
 public:
  /// With `chosen`, of the request's query tokens, a query sees of the keys that the layer's mask
  /// shows the chosen ones only.
  KeySet(const AttentionLayer& layer, QueriesAndKeys request,
         std::optional<ChosenKeys> chosen = std::nullopt);
  /// Of request r. The draft nodes of a request that only fills the batch up see nothing.
  KeySet(const AttentionLayer& layer, const ForwardBatch& batch, std::int64_t r,
         bool prefix_alone = false);

  /// Keys that query token `token` sees, ascending; no two runs touch. The runs differ between
  /// groups of heads only where keys are chosen.
  [[nodiscard]] std::vector<KeyRun> runs(std::int64_t token, std::int64_t head_group = 0) const;
  /// Compressed rows that query token `token` can see: all of its first ones, or a list's among
  /// these.
  [[nodiscard]] std::int64_t compressed_rows(std::int64_t token) const;
  /// Keys that some query sees, in the same form.
  [[nodiscard]] std::vector<KeyRun> seen() const;
  /// Those that some query sees under the heads of a group.
  [[nodiscard]] std::vector<KeyRun> seen_by_group(std::int64_t head_group) const;
  /// Pairs of a query token and a key that it sees. The time grows with the number of chunks,
  /// blocks and items, not with that of tokens. Throws ConfigError where 63 bits are too few.
  [[nodiscard]] std::int64_t pairs(std::int64_t head_group = 0) const;
  /// The first key that the mask leaves in reach of a query at position kv_len - q_len, be there
  /// one or not. Later queries do not see keys before it either.
  [[nodiscard]] std::int64_t first_in_reach() const;

 private:
  [[nodiscard]] bool sees_all() const;
  [[nodiscard]] std::int64_t prefix_len() const { return request_.kv_len - request_.q_len; }
  [[nodiscard]] std::int64_t first_delimiter() const;
  [[nodiscard]] bool sees_one_run() const;
  [[nodiscard]] KeyRun span_of(std::int64_t position) const;
  [[nodiscard]] KeyRun band(std::int64_t token) const;
  [[nodiscard]] std::vector<KeyRun> branch(std::int64_t token) const;
  [[nodiscard]] std::vector<KeyRun> of_items(std::int64_t token) const;
  /// What the mask shows.
  [[nodiscard]] std::vector<KeyRun> shown(std::int64_t token) const;
  [[nodiscard]] std::vector<KeyRun> with_compressed(std::int64_t token,
                                                    std::int64_t head_group) const;
  [[nodiscard]] std::vector<KeyRun> chosen_by(std::int64_t token, std::int64_t head_group) const;
  [[nodiscard]] KeyRun keys_of_entry(std::int64_t index) const;
  [[nodiscard]] std::vector<KeyRun> window_of(std::int64_t token, std::int64_t head_group) const;
  [[nodiscard]] std::int64_t keys_of(std::int64_t token, std::int64_t head_group) const;
  [[nodiscard]] std::int64_t end_of_ramp(std::int64_t token) const;

  AttentionLayer layer_;
  QueriesAndKeys request_;
  std::optional<ChosenKeys> chosen_;
};

/// The problem's rule in words, for a reader of the keys.
[[nodiscard]] std::string describe_mask(const Problem& problem);

}  // namespace attnbench
