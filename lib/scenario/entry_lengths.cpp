// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/batch_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/config/value_reader.h"

namespace attnbench {
namespace {

using Lengths = std::vector<std::int64_t>;

/// As many requests as an entry's count may be, which keeps a mistyped number from filling memory.
constexpr std::int64_t kMostBranchesInAll = 1 << 20;

enum Drawn : std::uint64_t { kQ = 0, kPrefix = 1, kKv = 2, kPrompt = 3, kEncoder = 4 };

/// The steps that reach the cross layers of a decoder.
bool check_mode_of_cross(const BatchEntry& entry, Problems& problems) {
  if (entry.mode == ForwardMode::kDecode || entry.mode == ForwardMode::kExtend ||
      entry.mode == ForwardMode::kTargetVerify) {
    return true;
  }
  problems.add(entry.mode_place, fmt::format("{} with cross attention", to_string(entry.mode)),
               "cross attention is decode, extend or target_verify");
  return false;
}

class Settler {
 public:
  Settler(const BatchEntry& entry, bool cross, std::uint64_t seed, Problems& problems)
      : entry_(&entry), cross_(cross), seed_(seed), problems_(&problems) {}

  std::optional<std::vector<RequestLengths>> run() {
    if (!(cross_ ? check_cross() : true) || !check_form()) return std::nullopt;
    if (entry_->chunk) return chunked();
    if (entry_->draft) return of_branches();
    const bool q_known = entry_->q_len || implied_q() > 0;
    if (!q_known) return from_prefix_and_kv();
    Lengths q = entry_->q_len ? drawn(*entry_->q_len, kQ) : all(implied_q());
    if (entry_->kv_len) return from_q_and_kv(q);
    return from_q_and_prefix(q);
  }

 private:
  [[nodiscard]] std::int64_t shared() const { return entry_->prefix ? entry_->prefix->length : 0; }

  /// Keys of a request beside those of its shared prefix, at the least.
  [[nodiscard]] std::int64_t own_keys(std::int64_t q_len) const { return cross_ ? 0 : q_len; }

  /// q_len that the mode or the tree sets, or 0.
  [[nodiscard]] std::int64_t implied_q() const {
    if (entry_->mode == ForwardMode::kDecode) return 1;
    return entry_->tree ? entry_->tree->tokens() : 0;
  }

  [[nodiscard]] std::int64_t own_tokens_of_branch() const { return entry_->draft->step + 1; }

  [[nodiscard]] Lengths drawn(const LengthSpec& spec, Drawn what) const {
    return spec.values(entry_->count, combine(seed_, what));
  }
  [[nodiscard]] Lengths all(std::int64_t value) const {
    return Lengths(static_cast<std::size_t>(entry_->count), value);
  }

  bool fail(const Place& place, std::string message, std::string hint = {}) {
    problems_->add(place, std::move(message), std::move(hint));
    return false;
  }

  bool check_cross() {
    const BatchEntry& e = *entry_;
    const std::string hint =
        "with cross attention q_len counts the decoder's, kv_len the encoder's tokens";
    if (e.prefix_len) return fail(e.prefix_len->place, "prefix_len with cross attention", hint);
    if (e.chunk) return fail(e.place, "chunk with cross attention", hint);
    if (e.tree) {
      return fail(e.tree->place, "a draft tree beside attention: {cross: true}",
                  "a tree is of a decoder with layers of its own: layer: cross, or layers: {full: "
                  "32, cross: 32}");
    }
    if (e.is_draft_decode) return fail(e.mode_place, "draft_decode with cross attention", hint);
    if (e.items) return fail(e.items->place, "items with cross attention", hint);
    return check_mode_of_cross(e, *problems_);
  }

  /// Which keys go together, before any length is looked at.
  bool check_form() {
    const BatchEntry& e = *entry_;
    const std::string_view mode = mode_word(e);
    if (e.mode == ForwardMode::kTargetVerify && !e.tree) {
      return fail(e.place, "target_verify has no tree",
                  "for example tree: {topk: 4, depth: 4, tokens: 16} or tree: {chain: 4}");
    }
    if (e.mode != ForwardMode::kTargetVerify && e.tree) {
      return fail(e.tree->place, fmt::format("{} takes no tree", mode),
                  "a draft tree is checked by mode: target_verify");
    }
    if (e.items && (e.mode != ForwardMode::kExtend || e.chunk)) {
      return fail(e.items->place,
                  e.chunk ? "items beside chunk" : fmt::format("{} takes no items", mode),
                  "items are scored in whole prompts: mode: extend");
    }
    if (e.mode != ForwardMode::kDllmExtend && e.block) {
      return fail(e.block->place, fmt::format("{} takes no block", mode),
                  "a block diffusion model's blocks are mode: dllm_extend");
    }
    if (e.draft && !e.is_draft_decode) {
      return fail(e.draft->place, fmt::format("{} takes no draft", mode),
                  "the branches of a draft model are decoded by mode: draft_decode");
    }
    if (e.is_draft_decode) return check_branches();
    if (e.empty_rows && !check_empty_rows()) return false;
    if (e.prompt_len && !e.chunk) {
      return fail(e.prompt_len->place, "prompt_len without chunk",
                  "a whole prompt is q_len with prefix_len: 0; a piece of one has "
                  "chunk: {size: 2k, index: 0}");
    }
    if (e.chunk) return check_chunk_form();
    return check_implied_q() && check_two_given();
  }

  /// A branch is what the request has committed, and the tokens of its own.
  bool check_branches() {
    const BatchEntry& e = *entry_;
    if (!e.draft) {
      return fail(e.place, "draft_decode has no draft",
                  "for example draft: {topk: 4, step: 2}: the third decode of four branches");
    }
    const std::string hint =
        "prefix_len and draft decide all lengths: each branch sees prefix_len + step + 1 keys";
    for (const auto* extra : {&e.q_len, &e.kv_len, &e.prompt_len}) {
      if (*extra) return fail((*extra)->place, "a length beside prefix_len and draft", hint);
    }
    if (e.tree) return fail(e.tree->place, "draft_decode takes no tree", hint);
    if (e.chunk) return fail(e.mode_place, "draft_decode takes no chunk", hint);
    if (e.empty_rows) return fail(e.empty_rows_place, "empty_rows in draft_decode", hint);
    if (!e.prefix_len && !e.prefix) return fail(e.place, "draft_decode needs prefix_len", hint);
    if (e.count * e.draft->topk <= kMostBranchesInAll) return true;
    return fail(e.draft->place, fmt::format("{} requests of {} branches are more than {}", e.count,
                                            e.draft->topk, kMostBranchesInAll));
  }

  /// Only where the last of a request's queries are aligned with the last of its keys, and nothing
  /// else is said about the keys before.
  bool check_empty_rows() {
    const BatchEntry& e = *entry_;
    const Place& place = e.empty_rows_place;
    const std::string hint =
        "it lets kv_len be below q_len: the first q_len - kv_len queries stand before key 0";
    if (cross_) {
      return fail(place, "empty_rows with cross attention", "an encoder's kv_len may be 0 anyway");
    }
    if (e.mode != ForwardMode::kDecode && e.mode != ForwardMode::kExtend) {
      return fail(place, fmt::format("empty_rows in {}", to_string(e.mode)),
                  "only decode and extend take it");
    }
    if (e.prefix_len) return fail(e.prefix_len->place, "prefix_len beside empty_rows", hint);
    if (e.prefix) return fail(place, "empty_rows behind a shared prefix", hint);
    if (e.chunk) return fail(place, "empty_rows in a chunk of a prompt", hint);
    return true;
  }

  bool check_chunk_form() {
    const BatchEntry& e = *entry_;
    if (e.mode != ForwardMode::kExtend && e.mode != ForwardMode::kSplitPrefill) {
      return fail(e.mode_place, fmt::format("{} takes no chunk", to_string(e.mode)),
                  "a chunk of a prompt is mode: extend or split_prefill");
    }
    if (!e.prompt_len)
      return fail(e.place, "chunk without prompt_len", "for example prompt_len: 16k");
    for (const auto* extra : {&e.q_len, &e.prefix_len, &e.kv_len}) {
      if (!*extra) continue;
      return fail(
          (*extra)->place, "a length beside prompt_len and chunk",
          "prompt_len and chunk decide all lengths: q_len = min(size, prompt_len - index * size), "
          "prefix_len = index * size");
    }
    return true;
  }

  bool check_implied_q() {
    const std::int64_t implied = implied_q();
    if (implied == 0 || !entry_->q_len) return true;
    const auto* number = std::get_if<std::int64_t>(&entry_->q_len->form);
    if (number != nullptr && *number == implied) return true;
    const std::string found = number != nullptr ? fmt::format("q_len {}", *number) : "q_len";
    if (entry_->tree) {
      return fail(entry_->q_len->place,
                  fmt::format("{}, but the tree has {} tokens", found, implied),
                  "leave q_len out: it counts the tree's tokens");
    }
    return fail(entry_->q_len->place, fmt::format("{}: a decode request has one new token", found),
                "leave q_len out, or say mode: extend");
  }

  bool check_two_given() {
    const BatchEntry& e = *entry_;
    const bool q = e.q_len || implied_q() > 0;
    if (q && e.prefix_len && e.kv_len) {
      return fail(e.kv_len->place, "q_len, prefix_len and kv_len at once",
                  "kv_len = prefix_len + q_len: any two decide the third");
    }
    const int known = int{q} + int{e.prefix_len.has_value()} + int{e.kv_len.has_value()};
    if (known == 2 || (q && e.prefix)) return true;
    if (q && cross_) return fail(e.place, "kv_len is missing", "it counts the encoder's tokens");
    if (q) {
      return fail(e.place, fmt::format("{} needs kv_len or prefix_len", to_string(e.mode)),
                  e.mode == ForwardMode::kExtend ? "a whole new prompt has prefix_len: 0" : "");
    }
    return fail(e.place,
                fmt::format("{} needs two of q_len, prefix_len and kv_len", to_string(e.mode)),
                "kv_len = prefix_len + q_len: any two decide the third");
  }

  std::optional<std::vector<RequestLengths>> of_branches() {
    auto lengths =
        entry_->prefix_len
            ? joined(all(own_tokens_of_branch()), drawn_prefix(), entry_->prefix_len->place)
            : joined(all(own_tokens_of_branch()), all(shared()), entry_->place);
    if (!lengths) return std::nullopt;
    for (RequestLengths& each : *lengths) each.q_len = 1;
    return lengths;
  }

  std::optional<std::vector<RequestLengths>> chunked() {
    const Lengths prompt = drawn(*entry_->prompt_len, kPrompt);
    const ChunkSpec& chunk = *entry_->chunk;
    Lengths q, prefix;
    for (const std::int64_t length : prompt) {
      const std::int64_t begin = chunk.index * chunk.size;
      if (begin >= length) {
        fail(
            chunk.index_place,
            fmt::format("chunk index {} of a prompt of {} tokens in chunks of {}", chunk.index,
                        length, chunk.size),
            fmt::format("chunks count from 0: the last one here is {}", (length - 1) / chunk.size));
        return std::nullopt;
      }
      q.push_back(std::min(chunk.size, length - begin));
      prefix.push_back(begin);
    }
    return joined(q, prefix, chunk.index_place);
  }

  std::optional<std::vector<RequestLengths>> from_prefix_and_kv() {
    const Lengths prefix = drawn_prefix();
    const Lengths kv = drawn(*entry_->kv_len, kKv);
    Lengths q;
    for (std::size_t i = 0; i < kv.size(); ++i) {
      if (kv[i] <= prefix[i]) {
        fail(entry_->kv_len->place,
             fmt::format("kv_len {} leaves no new token after prefix_len {}", kv[i], prefix[i]),
             drawn_hint(*entry_->kv_len, *entry_->prefix_len));
        return std::nullopt;
      }
      q.push_back(kv[i] - prefix[i]);
    }
    return joined(q, prefix, entry_->prefix_len->place);
  }

  [[nodiscard]] bool may_have_empty_rows() const {
    const BatchEntry& e = *entry_;
    return (e.mode == ForwardMode::kDecode || e.mode == ForwardMode::kExtend) && !e.prefix;
  }

  std::optional<std::vector<RequestLengths>> from_q_and_kv(const Lengths& q) {
    Lengths kv = drawn(*entry_->kv_len, kKv);
    const Place& place = entry_->kv_len->place;
    std::vector<RequestLengths> lengths;
    for (std::size_t i = 0; i < kv.size(); ++i) {
      if (entry_->empty_rows) {
        lengths.push_back({q[i], kv[i]});
        continue;
      }
      // A drawn length never asks for less than the new tokens and the shared prefix need.
      const std::int64_t least = shared() + own_keys(q[i]);
      if (entry_->kv_len->is_drawn()) kv[i] = std::max(kv[i], least);
      if (kv[i] < own_keys(q[i])) {
        fail(
            place,
            entry_->mode == ForwardMode::kDecode
                ? fmt::format("kv_len {} of a decode, whose new token it counts: at least 1", kv[i])
                : fmt::format(
                      "kv_len {} is shorter than q_len {}: a step's new tokens are part of its KV",
                      kv[i], q[i]),
            may_have_empty_rows() ? "empty_rows: true says that queries which see no key are meant"
                                  : "");
        return std::nullopt;
      }
      if (kv[i] < least) {
        fail(place,
             fmt::format("kv_len {} is shorter than prefix '{}' of {}{}", kv[i],
                         entry_->prefix->name, shared(),
                         cross_ ? "" : fmt::format(" and q_len {} together", q[i])),
             fmt::format("at least {} here", least));
        return std::nullopt;
      }
      lengths.push_back({q[i], kv[i]});
    }
    return lengths;
  }

  std::optional<std::vector<RequestLengths>> from_q_and_prefix(const Lengths& q) {
    if (cross_) return of_whole_encoders(q);
    if (!entry_->prefix_len) return joined(q, all(shared()), entry_->place);
    return joined(q, drawn_prefix(), entry_->prefix_len->place);
  }

  /// An encoder's output that is all shared.
  [[nodiscard]] std::vector<RequestLengths> of_whole_encoders(const Lengths& q) const {
    std::vector<RequestLengths> lengths;
    for (const std::int64_t q_len : q) lengths.push_back({q_len, shared()});
    return lengths;
  }

  [[nodiscard]] Lengths drawn_prefix() const {
    Lengths prefix = drawn(*entry_->prefix_len, kPrefix);
    if (entry_->prefix_len->is_drawn()) {
      for (std::int64_t& length : prefix) length = std::max(length, shared());
    }
    return prefix;
  }

  std::optional<std::vector<RequestLengths>> joined(const Lengths& q, const Lengths& prefix,
                                                    const Place& place) {
    std::vector<RequestLengths> lengths;
    for (std::size_t i = 0; i < q.size(); ++i) {
      if (prefix[i] < shared()) {
        fail(place,
             fmt::format("prefix_len {} is shorter than the shared prefix '{}' of {}", prefix[i],
                         entry_->prefix->name, shared()),
             "prefix_len counts the shared tokens too");
        return std::nullopt;
      }
      if (prefix[i] + q[i] > kMaxSize) {
        fail(place, fmt::format("kv_len {} is more than {}", prefix[i] + q[i], kMaxSize),
             "index arrays are int32: 2^31 - 1 is the largest size");
        return std::nullopt;
      }
      lengths.push_back({q[i], prefix[i] + q[i]});
    }
    return lengths;
  }

  static std::string drawn_hint(const LengthSpec& a, const LengthSpec& b) {
    return a.is_drawn() || b.is_drawn()
               ? "lengths are drawn independently: bound them with min and max"
               : "";
  }

  const BatchEntry* entry_;
  bool cross_;
  std::uint64_t seed_;
  Problems* problems_;
};

}  // namespace

std::optional<std::vector<RequestLengths>> settle_lengths(const BatchEntry& entry, bool cross,
                                                          std::uint64_t seed, Problems& problems) {
  return Settler(entry, cross, seed, problems).run();
}

std::optional<std::vector<std::int64_t>> settle_encoder_lens(const BatchEntry& entry,
                                                             std::int64_t of_model,
                                                             std::uint64_t seed,
                                                             Problems& problems) {
  if (!check_mode_of_cross(entry, problems)) return std::nullopt;
  const std::string hint = "a query of a cross layer sees all of the encoder's tokens";
  const auto refuse = [&](const Place& place, std::string what) {
    problems.add(place, std::move(what), hint);
    return std::nullopt;
  };
  if (entry.items) return refuse(entry.items->place, "items with cross attention");
  if (entry.is_draft_decode) return refuse(entry.mode_place, "draft_decode with cross attention");
  if (entry.encoder_len) return entry.encoder_len->values(entry.count, combine(seed, kEncoder));
  if (of_model > 0) return Lengths(static_cast<std::size_t>(entry.count), of_model);
  problems.add(entry.place, "encoder_len is missing",
               "a cross layer's keys are those of the request's encoder, beside the decoder's "
               "lengths: {mode: decode, kv_len: 200, encoder_len: 1500}");
  return std::nullopt;
}

}  // namespace attnbench
