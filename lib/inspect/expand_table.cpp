// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/int_math.h"
#include "lib/base/printable.h"
#include "lib/cost/cost.h"
#include "lib/engines/engine_setup_of.h"
#include "lib/inspect/expand_report.h"
#include "lib/inspect/expanded_case.h"
#include "lib/inspect/lists_text.h"
#include "lib/view/abridged_array.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kWidth = 100;

std::string geometry_text(const Case& c) {
  const AttentionLayer& l = c.layer;
  std::vector<std::string> parts = {
      fmt::format("  {} tp {}", c.model, c.tp),
      c.model_layers.layers > 0
          ? fmt::format("{} {} layers", c.model_layers.layers, c.model_layers.kind)
          : "",
      l.shares_row_of_k_and_v() ? "MLA absorbed"
      : l.is_recurrent()        ? std::string(l.recurrence())
                                : "",
      fmt::format("{} {} heads", l.heads_q, l.is_recurrent() ? "key" : "q"),
      fmt::format("{} {} head{}", l.heads_kv, l.is_recurrent() ? "value" : "kv",
                  l.heads_kv == 1 ? "" : "s"),
      fmt::format("dk {} dv {}", l.head_dim_qk, l.head_dim_v),
      fmt::format("scale {:.6g}", l.scale),
      std::string(to_string(c.dtype)),
      l.is_cross_attention ? "cross attention" : (l.causal ? "causal" : "not causal")};
  if (l.sliding_window_size >= 0) {
    parts.push_back(fmt::format("window: {} keys before{}{}", l.sliding_window_size,
                                l.causal ? "" : " and after",
                                c.mode == ForwardMode::kTargetVerify
                                    ? fmt::format(", in trees by {}", to_string(l.window_in_trees))
                                    : ""));
  }
  if (l.causal_block > 1) parts.push_back(fmt::format("by blocks of {}", l.causal_block));
  if (l.attention_chunk > 0) {
    parts.push_back(fmt::format("chunks of {} keys", l.attention_chunk));
  }
  if (l.dual_chunk.exists()) {
    parts.push_back(fmt::format("dual chunks of {} - {} keys, queries in three forms",
                                l.dual_chunk.chunk_size, l.dual_chunk.local_size));
  }
  if (l.compress_ratio > 0) {
    parts.push_back(fmt::format("compressed rows of {} tokens", l.compress_ratio));
  }
  if (l.selection.exists()) parts.push_back(lists_text(l));
  if (std::ranges::any_of(c.requests, [](const Request& r) { return !r.items.empty(); })) {
    parts.emplace_back("items apart from each other");
  }
  if (l.logit_cap > 0) parts.push_back(fmt::format("softcap {:g}", l.logit_cap));
  if (l.temperature_len > 0) {
    parts.push_back(fmt::format("temperature beyond token {}", l.temperature_len));
  }
  if (c.fp8.q) {
    parts.push_back(fmt::format("Q in {}, {}", to_string(*c.fp8.q),
                                c.fp8.q_scales == QScales::kTensor
                                    ? fmt::format("scale {:g}", c.q_scale)
                                    : fmt::format("scales by {}", to_string(c.fp8.q_scales))));
  }
  if (c.fp8.out) {
    parts.push_back(fmt::format("O in {}, scale {:g}", to_string(*c.fp8.out), c.out_scale));
  }
  if (l.queries_apart) parts.emplace_back("queries apart");
  if (l.has_sinks) parts.emplace_back("sinks");
  if (l.has_alibi) parts.emplace_back("ALiBi");
  return join_parts(parts, kWidth, 4);
}

std::string states_text(const ExpandedCase& e) {
  const std::int64_t slot = e.pool_bytes / e.state_slots;
  const std::string parts[] = {
      "  states f32", bytes_text(slot) + " a request", fmt::format("{} slots", e.state_slots),
      "pool " + bytes_text(e.pool_bytes),
      e.intermediate_state_bytes == 0 ? ""
                                      : bytes_text(e.intermediate_state_bytes) + " behind drafts"};
  return join_parts(parts, kWidth, 4);
}

std::string ragged_text(const ExpandedCase& e) {
  const std::string parts[] = {
      fmt::format("  keys and values {}", to_string(e.source->kv_cache.dtype)), "ragged",
      fmt::format("{} rows, {} of poison behind them", e.pages_used, e.num_pages - e.pages_used),
      bytes_text(e.pool_bytes)};
  return join_parts(parts, kWidth, 4);
}

std::string pool_text(const ExpandedCase& e) {
  if (e.source->layer.is_recurrent()) return states_text(e);
  const KvCacheConfig& kv = e.source->kv_cache;
  if (kv.is_ragged()) return ragged_text(e);
  const std::string parts[] = {
      fmt::format("  KV cache {}", to_string(kv.dtype)),
      fmt::format("pages of {}", kv.page_size),
      kv.page_stride > kv.page_size ? fmt::format("{} tokens apart", kv.page_stride) : "",
      kv.manager_page() > kv.page_size
          ? fmt::format("{} in each of the manager's {} tokens", kv.manager_page() / kv.page_size,
                        kv.manager_page())
          : "",
      kv.layout ? std::string(to_string(*kv.layout)) : "",
      kv.scales == KvScales::kTensor ? "" : fmt::format("scales by {}", to_string(kv.scales)),
      std::string(to_string(kv.placement)),
      !kv.swa_pool                               ? ""
      : e.source->layer.sliding_window_size >= 0 ? "the window's own pool"
                                                 : "the chunks' own pool",
      fmt::format("{} of {} pages used", e.pages_used, e.num_pages),
      "pool " + bytes_text(e.pool_bytes)};
  return join_parts(parts, kWidth, 4);
}

/// How well the pages are filled, and what would be of memory without pages.
std::string page_use_text(const ExpandedCase& e) {
  const PageUse& use = e.page_use;
  const std::int64_t shared =
      use.slots_freed > 0 ? 0 : e.source->kv_tokens() - use.tokens;  // not of a window's own pool
  const std::string parts[] = {
      fmt::format("  {} tokens in {} slots of pages", use.tokens, use.slots),
      shared > 0 ? fmt::format("of {} kv tokens, {} are of prefixes that lie there once for all",
                               e.source->kv_tokens(), shared)
                 : "",
      fmt::format("{} slots unused, {} used", use.wasted_slots(), percent_text(use.utilisation())),
      use.slots_freed > 0
          ? fmt::format("{} given back behind the {}", use.slots_freed,
                        e.source->layer.sliding_window_size >= 0 ? "window" : "chunks")
          : "",
      use.tokens_again > 0 ? fmt::format("{} token{} of shared prefixes stored again",
                                         use.tokens_again, use.tokens_again == 1 ? "" : "s")
                           : "",
      fmt::format("without pages or sharing, a row as long as the longest for each request: {} "
                  "slots, {} used",
                  use.contiguous_slots, percent_text(use.contiguous_utilisation()))};
  return join_parts(parts, kWidth, 4);
}

/// What the cache consists of, a line for each layout that it may have.
void write_layouts(const ExpandedCase& e, std::ostream& out) {
  for (const ExpandedCase::Layout& layout : e.layouts) {
    std::vector<std::string> buffers;
    for (const CacheBuffer& buffer : layout.buffers) {
      buffers.push_back(fmt::format("{} {} [{}] {}", buffer.name,
                                    buffer.dtype ? to_string(*buffer.dtype) : "u8",
                                    fmt::join(buffer.shape, ", "), bytes_text(buffer.bytes())));
    }
    out << wrapped(fmt::format("{} {}", to_string(layout.layout), fmt::join(buffers, "   ")),
                   kWidth, 4);
  }
}

/// `name` is empty where attention is all.
std::string cost_text(const ExpandedPart& part, std::string_view name) {
  const Case& c = part.of;
  if (!part.why_not.empty())
    return wrapped(fmt::format("no {}: {}", name, part.why_not), kWidth, 2);
  const std::string head = fmt::format("  {}{}", name, name.empty() ? "" : ": ");
  const Cost& cost = part.cost;
  const std::string parts[] = {
      head + si_text(static_cast<double>(cost.flops), "FLOP"),
      bytes_text(cost.bytes_unique) + " unique", bytes_text(cost.bytes_streamed) + " streamed",
      !attends(c.step)         ? ""
      : c.layer.is_recurrent() ? bytes_text(cost.kv_bytes_unique) + " of states"
                               : count_text(cost.visible_pairs) + " visible pairs per head"};
  return join_parts(parts, kWidth, 4) + '\n';
}

/// A line for each part that is measured.
std::string costs_text(const Case& c, std::span<const StepPart> measured) {
  const bool all = measured.size() == 1 && measured[0] == StepPart::kAttention;
  std::string text;
  for (const ExpandedPart& part : expand_parts(c, measured)) {
    text += cost_text(part, all ? "" : to_string(part.of.step));
  }
  return text;
}

/// What vLLM would do about a shared prefix.
std::string cascade_text(const CascadeChoice& choice) {
  return fmt::format("  vLLM's use_cascade: {} ({})", choice.answer, choice.reason);
}

/// How SGLang would have FlashInfer read a prompt's keys.
std::string prefill_text(const Case& c, const VerifyConfig& verify) {
  const auto decision = prefill_of_sglang(c, verify.batch_invariant_required);
  if (!decision) return {};
  return fmt::format("  flashinfer in SGLang: {} ({})\n", to_string(decision->path),
                     decision->reason);
}

/// What the step brings to the cache for cross layers, apart from their attention.
std::string encoder_write_text(const Case& c) {
  if (!writes_encoders(c)) return {};
  const Case write = with_step(c, StepPart::kKvWrite);
  return fmt::format("  kv_write of {} new encoder{}: {} tokens, {} to the cache\n",
                     write.requests.size(), write.requests.size() == 1 ? "" : "s",
                     write.kv_tokens(), bytes_text(count_cost(write).kv_bytes_written));
}

bool alike(const Request& a, const Request& b) {
  return a.group == b.group && a.q_len == b.q_len && a.kv_len == b.kv_len &&
         a.shared_prefix == b.shared_prefix && a.shared_len == b.shared_len &&
         a.encoder_cached == b.encoder_cached;
}

/// "prefixes system 65 · tools 165 after system": where some extend others.
void write_prefixes(const Case& c, std::ostream& out) {
  std::vector<std::string> parts;
  bool branch = false;
  for (const SharedPrefix& prefix : c.prefixes) {
    parts.push_back(
        fmt::format("{}{} {}", parts.empty() ? "  prefixes " : "", prefix.name, prefix.length));
    if (prefix.parent < 0) continue;
    parts.back() += " after " + c.prefixes[to_size(prefix.parent)].name;
    branch = true;
  }
  if (branch) out << join_parts(parts, kWidth, 4) << '\n';
}

void write_requests(const Case& c, std::ostream& out) {
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Table table{.columns = {{"request", kLeft, 4, 12},
                          {"group", kLeft, 1, 20, 20},
                          {"q_len", kRight, 1, 8},
                          {"prefix_len", kRight, 1},
                          {"kv_len", kRight, 1, 8},
                          {"shared", kLeft}}};
  const bool cross = c.layer.is_cross_attention;  // an encoder's keys are no prefix
  for (std::size_t first = 0; first < c.requests.size();) {
    const Request& r = c.requests[first];
    std::size_t end = first + 1;
    while (end < c.requests.size() && alike(r, c.requests[end])) ++end;
    std::string shared;
    if (r.shared_prefix >= 0) {
      const std::int64_t cached = whole_pages(r.shared_len, c.kv_cache.manager_page());
      shared = fmt::format("{} {}{}", c.prefixes[to_size(r.shared_prefix)].name, r.shared_len,
                           cached < r.shared_len ? fmt::format(", {} in whole pages", cached) : "");
    }
    if (!r.encoder_cached) shared = "new encoder";
    table.rows.push_back(
        {{end - first == 1 ? std::to_string(first) : fmt::format("{}-{}", first, end - 1), r.group,
          std::to_string(r.q_len), cross ? "-" : std::to_string(r.prefix_len()),
          std::to_string(r.kv_len), shared}});
    first = end;
  }
  out << terminal_text(table);
  if (c.padding.requests > 0) {
    out << fmt::format("    {} more fill the batch up: row 0, slot 0, seq_len {}\n",
                       c.padding.requests, c.padding.seq_len);
  }
  if (c.padding.tokens > 0) {
    out << fmt::format("    {} more token rows belong to no request: slot 0, position 0\n",
                       c.padding.tokens);
  }
}

std::string entries_text(const AbridgedArray& array) {
  std::string text = fmt::format("{}", fmt::join(array.head, " "));
  if (!array.tail.empty()) text += fmt::format(" … {}", fmt::join(array.tail, " "));
  return text;
}

/// A line of its name and entries, which have a second one where the first is too long.
void write_entries(const std::string& name, const std::string& entries, std::ostream& out) {
  if (entries.empty()) {
    out << name << '\n';
  } else if (display_width(name) + 1 + display_width(entries) <= kWidth) {
    out << name << ' ' << entries << '\n';
  } else {
    out << name << "\n        " << entries << '\n';
  }
}

void write_rows(const IndexArray& table, std::ostream& out) {
  const auto rows = to_size(table.shape[0]), columns = to_size(table.shape[1]);
  const std::size_t digits = std::to_string(rows).size();
  const std::vector<std::int64_t> values = table.widened();
  for (std::size_t row = 0; row < rows; ++row) {
    if (row == kShownEntries && rows > 2 * kShownEntries) {
      row = rows - kShownEntries;
      out << "      …\n";
    }
    const auto entries = std::span(values).subspan(row * columns, columns);
    write_entries(fmt::format("      {:<{}} ", row, digits), entries_text(abridged("", entries)),
                  out);
  }
}

void write_indices(const BuiltIndices& built, std::ostream& out) {
  const IndexFormat& format = *built.format;
  out << wrapped(built.why_not.empty()
                     ? fmt::format("indices {}, read by {}", format.name, format.readers)
                     : fmt::format("indices {} do not apply: {}", format.name, built.why_not),
                 kWidth, 2);
  for (const IndexArray& array : built.arrays) {
    std::string name = fmt::format("    {:<20} {}", array.name, array.dtype());
    if (!array.shape.empty()) name += fmt::format(" [{}]", fmt::join(array.shape, ", "));
    if (array.shape.size() == 2) {
      out << name << '\n';
      write_rows(array, out);
    } else {
      write_entries(name, entries_text(abridged("", array.widened())), out);
    }
  }
}

void write_step(const Case& c, const Scenario& scenario,
                std::span<const IndexFormat* const> formats, std::ostream& out) {
  const ExpandedCase e = expand_case(c, formats);
  const std::string head[] = {
      fmt::format("{}    {}", c.id, to_string(c.mode)),
      c.draft_topk > 0
          ? fmt::format("{} branch{} a draft", c.draft_topk, c.draft_topk == 1 ? "" : "es")
          : "",
      fmt::format("{} seq{}", c.requests.size(), c.requests.size() == 1 ? "" : "s"),
      fmt::format("{} q token{}", c.q_tokens(), c.q_tokens() == 1 ? "" : "s"),
      fmt::format("{} kv tokens", c.kv_tokens())};
  out << '\n'
      << join_parts(head, kWidth, 4) << '\n'
      << geometry_text(c) << '\n'
      << pool_text(e) << '\n';
  if (e.pages_used > 0 && !c.kv_cache.is_ragged()) out << page_use_text(e) << '\n';
  write_layouts(e, out);
  out << costs_text(c, scenario.measure.step) << cascade_text(e.use_cascade) << '\n'
      << prefill_text(c, scenario.verify) << encoder_write_text(c);
  if (!c.model_note.empty()) out << wrapped("note: " + c.model_note, kWidth, 2);
  write_prefixes(c, out);
  write_requests(c, out);
  for (const AbridgedArray& array : e.arrays) {
    std::string line =
        fmt::format("    {:<20} [{}] {}", array.name, array.size, entries_text(array));
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << '\n';
  }
  for (const BuiltIndices& built : e.indices) write_indices(built, out);
  if (!e.arrays_left_out.empty()) out << "    index arrays " << e.arrays_left_out << '\n';
}

}  // namespace

void write_expand_table(const Scenario& scenario, const std::vector<const Case*>& cases,
                        std::ostream& out, std::span<const IndexFormat* const> formats) {
  out << fmt::format("{}   {} case{} · seed {}\n", printable(scenario.name), cases.size(),
                     cases.size() == 1 ? "" : "s", scenario.seed);
  for (const Case* c : cases) {
    for (const Case& step : steps_of(*c)) write_step(step, scenario, formats, out);
  }
}

}  // namespace attnbench
