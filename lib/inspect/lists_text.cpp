// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/lists_text.h"

#include <fmt/format.h>

namespace attnbench {
namespace {

/// ", before a window of 512 keys, which all heads see".
std::string window_text(const Selection& rule) {
  if (rule.window == 0) return "";
  const std::string who = rule.fuses_window       ? ", which all heads see"
                          : rule.window_heads > 0 ? ""
                                                  : " that no head sees";
  const std::string alone = rule.window_heads > 0
                                ? fmt::format("; {} KV head{} only the window", rule.window_heads,
                                              rule.window_heads == 1 ? " sees" : "s see")
                                : "";
  return fmt::format(", before a window of {} keys{}{}", rule.window, who, alone);
}

const char* groups_text(const AttentionLayer& layer) {
  if (layer.selection_groups() == 1) return "";
  return layer.selection.groups == SelectionGroups::kHeads ? ", by head" : ", by KV head";
}

std::string score_text(const Selection& rule) {
  switch (rule.score) {
    case SelectionScore::kSum:
    case SelectionScore::kMax:
      return "maxima";
    case SelectionScore::kGroup:
      return "representations, summed over a group's heads";
    case SelectionScore::kHead:
      return "representations, the best of a group's heads";
    case SelectionScore::kBounds:
      return "bounds of their keys";
    case SelectionScore::kChannels:
      return fmt::format("{} heavy channels", rule.channels);
  }
  return "?";
}

}  // namespace

std::string lists_text(const AttentionLayer& layer) {
  const Selection& chosen = layer.selection;
  return fmt::format("lists of {} {}{}{}, {}{}", chosen.topk, chosen.compressed ? "rows" : "keys",
                     chosen.keys_of_entry() > 1 ? fmt::format(" x {}", chosen.unit) : "",
                     chosen.has_tail() ? fmt::format(", tail {}", to_string(chosen.tail)) : "",
                     to_string(chosen.pattern), groups_text(layer)) +
         (chosen.scores_in_bf16() ? fmt::format(", by {}", score_text(chosen)) : "") +
         (chosen.weighs_units() ? ", each entry weighed" : "") +
         (chosen.has_landmarks ? ", landmarks unseen" : "") + window_text(chosen);
}

}  // namespace attnbench
