// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace attnbench {

/// Which query heads share a list of chosen keys: all of the rank (DeepSeek-V3.2), those of a KV
/// head (MiniMax-M3, NSA), or none with another (double sparsity).
enum class SelectionGroups : std::uint8_t { kOne, kKvHeads, kHeads };
inline constexpr std::array kSelectionGroups = {SelectionGroups::kOne, SelectionGroups::kKvHeads,
                                                SelectionGroups::kHeads};
[[nodiscard]] constexpr std::string_view to_string(SelectionGroups groups) {
  switch (groups) {
    case SelectionGroups::kOne:
      return "one";
    case SelectionGroups::kKvHeads:
      return "kv_heads";
    case SelectionGroups::kHeads:
      return "heads";
  }
  return "?";
}

/// Which units stand in a list that cannot have all. It decides how much of what a kernel loads is
/// in the cache already, and what it must not rest on.
enum class SelectionPattern : std::uint8_t {
  kUniform,     ///< any, each query's for itself
  kRecent,      ///< the first few keys and the latest ones (StreamingLLM, arXiv:2309.17453)
  kShared,      ///< neighbouring queries have a part of their lists in common
  kOnePage,     ///< neighbours from the beginning of a page on: as few pages as hold them
  kEveryPage,   ///< one of each page, of as many pages as there are entries
  kHoles,       ///< a quarter of the entries are -1, anywhere among the others
  kDuplicates,  ///< half of the entries name a unit that the list has already
  kCaptured,    ///< those of a file
};
inline constexpr std::array kSelectionPatterns = {
    SelectionPattern::kUniform,    SelectionPattern::kRecent,    SelectionPattern::kShared,
    SelectionPattern::kOnePage,    SelectionPattern::kEveryPage, SelectionPattern::kHoles,
    SelectionPattern::kDuplicates, SelectionPattern::kCaptured};
[[nodiscard]] constexpr std::string_view to_string(SelectionPattern pattern) {
  switch (pattern) {
    case SelectionPattern::kUniform:
      return "uniform";
    case SelectionPattern::kRecent:
      return "recent";
    case SelectionPattern::kShared:
      return "shared";
    case SelectionPattern::kOnePage:
      return "one_page";
    case SelectionPattern::kEveryPage:
      return "every_page";
    case SelectionPattern::kHoles:
      return "holes";
    case SelectionPattern::kDuplicates:
      return "duplicates";
    case SelectionPattern::kCaptured:
      return "captured";
  }
  return "?";
}

/// The patterns that are drawn.
inline constexpr std::array kDrawnPatterns = {
    SelectionPattern::kUniform,   SelectionPattern::kRecent,    SelectionPattern::kShared,
    SelectionPattern::kOnePage,   SelectionPattern::kEveryPage, SelectionPattern::kHoles,
    SelectionPattern::kDuplicates};

/// What the columns hold that a short list leaves.
enum class SelectionPadding : std::uint8_t {
  kEnd,     ///< -1 behind topk_length
  kFront,   ///< -1 before the list, all columns counted (Step 5)
  kRepeat,  ///< the list's entries again behind topk_length, which are not to be counted
};
inline constexpr std::array kSelectionPaddings = {SelectionPadding::kEnd, SelectionPadding::kFront,
                                                  SelectionPadding::kRepeat};
[[nodiscard]] constexpr std::string_view to_string(SelectionPadding padding) {
  switch (padding) {
    case SelectionPadding::kEnd:
      return "end";
    case SelectionPadding::kFront:
      return "front";
    case SelectionPadding::kRepeat:
      return "repeat";
  }
  return "?";
}

/// Which entry of a list is the query's own unit, of which it sees the keys up to its own.
enum class SelectionTail : std::uint8_t {
  kCounted,  ///< one like the others (MiniMax-M3)
  kOpen,     ///< while it is not complete, one beside those that a selector took (GLM-5.3-Flash)
  kOwn,      ///< one beside them in every list (Step 5)
};
inline constexpr std::array kSelectionTails = {SelectionTail::kCounted, SelectionTail::kOpen,
                                               SelectionTail::kOwn};
[[nodiscard]] constexpr std::string_view to_string(SelectionTail tail) {
  switch (tail) {
    case SelectionTail::kCounted:
      return "counted";
    case SelectionTail::kOpen:
      return "open";
    case SelectionTail::kOwn:
      return "own";
  }
  return "?";
}

/// What an indexer scores a unit of keys by.
enum class SelectionScore : std::uint8_t {
  kSum,  ///< its row in a cache of e4m3: the weighted sum over heads of max(0, q.k) (DeepSeek-V3.2)
  /// Its keys in a cache of bf16: the largest q.k of a head for each group; the query's own unit is
  /// above all others (MiniMax-M3).
  kMax,
  // Its representation for each group, a row in bf16 of a complete unit (hierarchical).
  kGroup,   ///< scale * (sum of the queries of the group's heads) . row
  kHead,    ///< the largest scale * q . row of these heads
  kBounds,  ///< likewise, of two rows that bound its keys: scale * sum of max(q lo, q hi) (Quest)
  /// A key by its label, which has the heavy channels of its KV head in bf16: the largest scale *
  /// sum over these channels of q k of a list's heads (double sparsity, arXiv:2408.07092).
  kChannels,
};
inline constexpr std::array kSelectionScores = {SelectionScore::kSum,    SelectionScore::kMax,
                                                SelectionScore::kGroup,  SelectionScore::kHead,
                                                SelectionScore::kBounds, SelectionScore::kChannels};
[[nodiscard]] constexpr std::string_view to_string(SelectionScore score) {
  switch (score) {
    case SelectionScore::kSum:
      return "sum";
    case SelectionScore::kMax:
      return "max";
    case SelectionScore::kGroup:
      return "group";
    case SelectionScore::kHead:
      return "head";
    case SelectionScore::kBounds:
      return "bounds";
    case SelectionScore::kChannels:
      return "channels";
  }
  return "?";
}

/// What a key's weight is normalised over.
enum class SelectionSoftmax : std::uint8_t {
  kKeys,  ///< all keys that the query sees
  /// Each entry of a list has a softmax of its own keys, and the entries are weighted by a softmax
  /// of scores that a selector left (hierarchical sparse attention).
  kUnits,
};
inline constexpr std::array kSelectionSoftmaxes = {SelectionSoftmax::kKeys,
                                                   SelectionSoftmax::kUnits};
[[nodiscard]] constexpr std::string_view to_string(SelectionSoftmax softmax) {
  return softmax == SelectionSoftmax::kKeys ? "keys" : "units";
}

/// Sparse attention: another kernel chose the keys of each query. Of the keys that the layer's mask
/// shows, a query sees those of its list, and a key that the list names twice takes part twice.
struct Selection {
  std::int64_t topk = 0;  ///< entries that a list has room for, its tail's among them; 0: all keys
                          ///< are seen
  std::int64_t unit = 1;  ///< neighbouring keys that an entry stands for
  SelectionTail tail = SelectionTail::kCounted;
  SelectionGroups groups = SelectionGroups::kOne;
  SelectionPattern pattern = SelectionPattern::kUniform;
  double overlap = 0.75;  ///< kShared: the common part of a list
  SelectionPadding padding = SelectionPadding::kEnd;
  std::int64_t page_size = 1;  ///< kOnePage, kEveryPage: keys of a page of the cache
  SelectionScore score = SelectionScore::kSum;
  int index_heads = 64;         ///< of the indexer that scores keys (StepPart::kIndexer); kMax: one
                                ///< for each group; of representations and labels: the layer's
  int channels = 32;            ///< kChannels: of a label (ds_heavy_channel_num of SGLang)
  bool has_duplicates = false;  ///< kCaptured: some list names a unit more than once
  /// Latest keys of a query, its own among them, that lists leave out, together with each unit that
  /// one of them touches (SGLang's HSA, --hsa-window-size). 0: there are none.
  std::int64_t window = 0;
  bool fuses_window = false;  ///< heads with lists see the window's keys beside their own
  /// So many first KV heads of the rank see the window's keys only, and their lists are empty.
  int window_heads = 0;
  SelectionSoftmax softmax = SelectionSoftmax::kKeys;
  /// The last key of each unit is the landmark that represents it: no query sees it, selected or in
  /// the window (HSA as its authors run it).
  bool has_landmarks = false;
  /// Entries name compressed rows, each of `unit` tokens (AttentionLayer::compress_ratio), in place
  /// of these tokens.
  bool compressed = false;
  /// Part of the units whose representation is older than what they hold (page_version of SGLang's
  /// HSA): their logit is -inf, and no list names them.
  double stale = 0;

  [[nodiscard]] constexpr bool exists() const { return topk > 0; }
  [[nodiscard]] constexpr bool weighs_units() const { return softmax == SelectionSoftmax::kUnits; }
  /// Numbers of 4 bytes of a list: units, and scores where these are weighed.
  [[nodiscard]] constexpr std::int64_t columns() const { return topk * (weighs_units() ? 2 : 1); }
  /// Whether an indexer scores the representations of units.
  [[nodiscard]] constexpr bool scores_representations() const {
    return score == SelectionScore::kGroup || score == SelectionScore::kHead ||
           score == SelectionScore::kBounds;
  }
  /// Whether an indexer scores the labels of keys.
  [[nodiscard]] constexpr bool scores_labels() const { return score == SelectionScore::kChannels; }
  /// Whether an indexer's queries are those of the layer's heads.
  [[nodiscard]] constexpr bool scores_by_layer_heads() const {
    return scores_representations() || scores_labels();
  }
  /// Rows of a unit's representation for a group.
  [[nodiscard]] constexpr std::int64_t rows_of_unit() const {
    return score == SelectionScore::kBounds ? 2 : 1;
  }
  /// Whether an indexer's queries and keys are in bf16, without weights and scales.
  [[nodiscard]] constexpr bool scores_in_bf16() const { return score != SelectionScore::kSum; }
  /// Hierarchical sparse attention: lists name complete units before the window only, since a unit
  /// that is still growing has no representation to be scored by.
  [[nodiscard]] constexpr bool is_hierarchical() const {
    return window > 0 || weighs_units() || scores_representations() || has_landmarks;
  }
  /// Whether the query's own unit stands in lists once it is complete only.
  [[nodiscard]] constexpr bool names_complete_units() const {
    return is_hierarchical() || compressed;
  }
  /// Keys that an entry of a list stands for.
  [[nodiscard]] constexpr std::int64_t keys_of_entry() const { return compressed ? 1 : unit; }
  /// Units that a list of the query at `position` among its request's keys can name: 0 to this - 1.
  [[nodiscard]] constexpr std::int64_t candidates(std::int64_t position) const {
    if (position < 0) return 0;
    if (!names_complete_units()) return position / unit + 1;
    return position + 1 > window ? (position + 1 - window) / unit : 0;
  }
  [[nodiscard]] constexpr bool is_landmark(std::int64_t key) const {
    return has_landmarks && key % unit == unit - 1;
  }
  /// The latest keys that the heads of a group see beside their list: 0 without a window.
  [[nodiscard]] constexpr std::int64_t window_of(std::int64_t group) const {
    return fuses_window || group < window_heads ? window : 0;
  }
  /// Whether an entry of each list is kept for the query's own unit.
  [[nodiscard]] constexpr bool has_tail() const { return tail != SelectionTail::kCounted; }
  [[nodiscard]] constexpr bool takes_maxima() const { return score == SelectionScore::kMax; }
  /// Keys of a row of an indexer's cache.
  [[nodiscard]] constexpr std::int64_t pool() const { return takes_maxima() ? 1 : unit; }
  /// Of a request's first `keys` keys. An indexer scores pools of `unit` keys once they are
  /// complete: its cache has a row of each, and the keys behind them are seen without a score.
  /// Where it takes maxima, its cache has a row of each key.
  [[nodiscard]] constexpr std::int64_t complete_pools(std::int64_t keys) const {
    return keys / pool();
  }
  /// Whether a list may name a unit more than once.
  [[nodiscard]] constexpr bool repeats() const {
    return pattern == SelectionPattern::kDuplicates || has_duplicates;
  }
  [[nodiscard]] constexpr bool goes_by_pages() const {
    return pattern == SelectionPattern::kOnePage || pattern == SelectionPattern::kEveryPage;
  }
  friend bool operator==(const Selection&, const Selection&) = default;
};

}  // namespace attnbench
