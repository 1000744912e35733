// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lib/scenario/case.h"

namespace attnbench::reference {

/// Keys that one query row sees: a run, then single keys behind it (the branch of a draft tree,
/// an item, chosen keys).
struct VisibleKeys {
  struct Key {
    std::int64_t index = 0;     ///< where the key lies among the request's keys
    std::int64_t position = 0;  ///< of its token in the text; differs from index inside a tree
    std::int64_t times = 1;     ///< that it takes part: a list of chosen keys may repeat it
  };
  std::int64_t begin = 0, end = 0;  ///< the run [begin, end); index and position are equal in it
  std::vector<Key> branch;          ///< ascending, index >= end

  /// Terms of the softmax: a key that takes part twice is two.
  [[nodiscard]] std::int64_t count() const {
    std::int64_t terms = end - begin;
    for (const Key& key : branch) terms += key.times;
    return terms;
  }
  [[nodiscard]] std::int64_t most_times() const {
    std::int64_t most = 1;
    for (const Key& key : branch) most = std::max(most, key.times);
    return most;
  }
  /// Calls visit(Key) for every visible key with first <= index < last, ascending.
  template <typename Visit>
  void for_each_in(std::int64_t first, std::int64_t last, Visit visit) const {
    for (std::int64_t j = std::max(first, begin); j < std::min(last, end); ++j) visit(Key{j, j});
    for (auto key = branch_from(first); key != branch.end() && key->index < last; ++key) {
      visit(*key);
    }
  }
  [[nodiscard]] bool any_in(std::int64_t first, std::int64_t last) const;

 private:
  /// The branch's first key at `index` or behind it.
  [[nodiscard]] std::vector<Key>::const_iterator branch_from(std::int64_t index) const {
    return std::ranges::lower_bound(branch, index, {}, &Key::index);
  }
};

/// Position in the text of query token `token`: prefix_len + token, in a draft tree prefix_len +
/// depth. Negative where queries outnumber keys.
[[nodiscard]] std::int64_t query_position(const Request& request, std::int64_t token);

/// The masks of all modes:
///   cross attention: all keys, a window does not apply;
///   non-causal: all keys; under a window W those at positions i - W <= j <= i + W, i being the
///   query's (an encoder's window);
///   causal: keys at positions j <= i (bottom-right alignment);
///   items (multi-item scoring): of a prompt `prefix, delimiter, item, …, delimiter` the prefix,
///   and of the query's own item the keys up to it; a delimiter sees the prefix alone; by blocks of
///   N (block diffusion): those of the prefix, and of the step's own tokens up to the end of the
///   query's block, j < prefix_len + (floor(token / N) + 1) N; draft tree: the prefix, the node's
///   ancestors, itself; sliding window W, on top of the latter three: keys at j >= i - W; chunks of
///   C keys, on top of causality, trees and windows: keys at floor(j / C) == floor(i / C).
/// A span [a, b) of a prompt adds keys a <= j < b to its own queries, a <= i < b: j > i beside the
/// window's (SpanRule::kWithinWindow), or all of them (kOverride).
/// A selection: of these the keys that the list of the query token and of `head` names, a
/// multiset: a key that it names twice takes part twice; and of a hierarchical one, where the head
/// sees it, those of the window, j > i - window. The last key of a unit is none of both where it is
/// a landmark.
/// Compressed rows: beside the tokens that the mask shows, the first floor((i + 1) / ratio) rows of
/// the request, whose indices follow the last token's, or those of these that the list names.
/// A node of a draft tree lies at position prefix_len + depth, not at its index: ALiBi counts
/// tokens of the text that the branch spells, and siblings are not part of it. The window counts in
/// the same way under WindowInTrees::kDepth; under kIndex it counts indices among the request's
/// keys. Chunks always count these.
[[nodiscard]] VisibleKeys keys_seen_by(const AttentionLayer& layer, const Request& request,
                                       std::int64_t token, int head = 0);

/// An entry of a list whose keys have a softmax of their own: keys [begin, end) of the request.
struct WeighedUnit {
  std::int64_t begin = 0, end = 0;
  double score = 0;
};

/// The entries of the list of the query token and of `head` whose softmaxes are weighed by scores
/// (SelectionSoftmax::kUnits); none of another layer.
[[nodiscard]] std::vector<WeighedUnit> units_weighed_by(const AttentionLayer& layer,
                                                        const Request& request, std::int64_t token,
                                                        int head);

}  // namespace attnbench::reference
