// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/batch_reader.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/batch/draft_tree.h"
#include "lib/config/key_values.h"
#include "lib/config/value_reader.h"
#include "lib/scenario/language.h"

namespace attnbench {
namespace {

/// Trees of engines have tens of tokens; the mask grows with the square.
constexpr std::int64_t kMaxTreeTokens = 4096;
/// What each request's selection looks at; topk 64 over 16 steps.
constexpr std::int64_t kMaxCandidates = 1 << 16;

constexpr const char* kForms =
    "three ways to write one: {topk: 4, depth: 4, tokens: 16}   {parents: [-1, 0, 0, 1]}   {chain: "
    "4}";

std::optional<TreeSpec> read_grown(const StrictMap& map, Problems& problems) {
  for (const char* key : {"topk", "depth", "tokens"}) {
    if (map.has(key)) continue;
    problems.add(map.node().place, fmt::format("tree has no {}", key), kForms);
    return std::nullopt;
  }
  GrownTree tree{};
  if (!read_rows(map, tree, problems)) return std::nullopt;
  const std::int64_t candidates = draft_candidates(tree.topk, tree.depth);
  if (candidates > kMaxCandidates) {
    problems.add(map.find("topk")->place,
                 fmt::format("topk {} and depth {} propose {} tokens, more than {}", tree.topk,
                             tree.depth, candidates, kMaxCandidates),
                 "each step after the first proposes topk x topk");
    return std::nullopt;
  }
  if (tree.tokens > 1 + candidates) {
    problems.add(map.find("tokens")->place,
                 fmt::format("tokens {}: a tree of topk {} and depth {} has at most {} tokens",
                             tree.tokens, tree.topk, tree.depth, 1 + candidates),
                 "the root, topk after it, then topk x topk a step");
    return std::nullopt;
  }
  return TreeSpec{map.node().place, tree};
}

std::optional<TreeSpec> read_parents(const YamlNode& node, const Place& place, Problems& problems) {
  if (!node.is_list() || node.items.empty()) {
    problems.add(node.place,
                 fmt::format("parents takes a list, found {}",
                             node.is_list() ? "an empty one" : describe(node)),
                 "the parent of each token, -1 for the root: parents: [-1, 0, 0, 1]");
    return std::nullopt;
  }
  std::vector<int> parents;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const YamlNode& item = *node.items[i];
    if (i == 0) {
      if (!item.is_scalar() || item.text != "-1") {
        problems.add(item.place, fmt::format("token 0 is the root, its parent is -1, found {}",
                                             describe(item)));
        return std::nullopt;
      }
      parents.push_back(-1);
      continue;
    }
    if (item.is_scalar() && item.text == "-1") {
      problems.add(item.place, fmt::format("token {} is a second root", i),
                   "a tree has one root, token 0: the last verified token");
      return std::nullopt;
    }
    const auto parent = read_size(item, "parent", 0, kMaxTreeTokens, problems);
    if (!parent) return std::nullopt;
    if (*parent >= static_cast<std::int64_t>(i)) {
      problems.add(item.place,
                   fmt::format("parent {} of token {} does not come before it", *parent, i),
                   fmt::format("parents come before their children: 0 to {} here", i - 1));
      return std::nullopt;
    }
    parents.push_back(static_cast<int>(*parent));
  }
  return TreeSpec{place, std::move(parents)};
}

}  // namespace

double draft_probability(std::uint64_t seed, std::int64_t topk, std::int64_t candidate) {
  // Sums and products of doubles only: the same tree on every machine.
  const auto share = [&](std::int64_t i) {
    const std::uint64_t draw = combine(seed, static_cast<std::uint64_t>(i));
    return 0.5 + 0x1p-54 * static_cast<double>(draw >> 11);
  };
  double left = 1;
  for (std::int64_t i = candidate / topk * topk; i < candidate; ++i) left *= 1 - share(i);
  return left * share(candidate);
}

std::int64_t TreeSpec::tokens() const {
  if (const auto* grown = std::get_if<GrownTree>(&form)) return grown->tokens;
  return static_cast<std::int64_t>(std::get<std::vector<int>>(form).size());
}

int TreeSpec::topk() const {
  const auto* grown = std::get_if<GrownTree>(&form);
  return grown == nullptr ? 0 : static_cast<int>(grown->topk);
}

std::vector<int> TreeSpec::parents(std::uint64_t seed) const {
  if (const auto* list = std::get_if<std::vector<int>>(&form)) return *list;
  const auto& tree = std::get<GrownTree>(form);
  const auto probability = [&](std::int64_t candidate) {
    return draft_probability(seed, tree.topk, candidate);
  };
  const DraftSelection selection =
      select_draft_tokens(tree.topk, tree.depth, tree.tokens - 1, probability);
  return build_tree(selection.selected_index, selection.parent_list, tree.topk);
}

KeySection tree_section() {
  return {"tree",
          "tree",
          "mixes.NAME.batch[].tree",
          {{"topk", whole(&GrownTree::topk, 1, kMaxTreeTokens),
            "Candidates that a step keeps, and children proposed for each.", "none"},
           {"depth", whole(&GrownTree::depth, 1, kMaxTreeTokens),
            "Steps of the draft model: levels below the root.", "none"},
           {"tokens", whole(&GrownTree::tokens, 1, kMaxTreeTokens),
            "Nodes kept, the root included: up to 1 + topk + (depth - 1) * topk^2.", "none"},
           {"parents", by_section("a list", "none"), "Parent of each token, -1 for token 0."},
           {"chain", by_section("a whole number from 1", "none"), "Tokens one after another."}}};
}

std::optional<TreeSpec> read_tree(const YamlNode& node, Problems& problems) {
  const ScenarioMap map(node, "tree", "tree", problems);
  if (!map.sound()) return std::nullopt;
  const bool grown = map.has("topk") || map.has("depth") || map.has("tokens");
  const YamlNode* parents = map.find("parents");
  const YamlNode* chain = map.find("chain");
  if (int{grown} + int{parents != nullptr} + int{chain != nullptr} != 1) {
    problems.add(node.place,
                 grown || parents != nullptr ? "tree is written in two ways at once"
                                             : "tree says nothing about its shape",
                 kForms);
    return std::nullopt;
  }
  if (grown) return read_grown(map, problems);
  if (parents != nullptr) return read_parents(*parents, node.place, problems);
  const auto length = read_size(*chain, "chain", 1, kMaxTreeTokens, problems);
  if (!length) return std::nullopt;
  std::vector<int> line(static_cast<std::size_t>(*length));
  std::iota(line.begin(), line.end(), -1);
  return TreeSpec{node.place, std::move(line)};
}

}  // namespace attnbench
