// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "lib/cost/cost.h"
#include "lib/engines/engine_setup_of.h"
#include "lib/inspect/expand_report.h"
#include "lib/inspect/expanded_case.h"
#include "lib/scenario/case_fields.h"
#include "lib/scenario/prefix_tree.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

Json model_layers_of(const ModelLayers& layers) {
  if (layers.kind.empty()) return nullptr;
  return {{"kind", layers.kind},
          {"layers", layers.layers},
          {"of_step", layers.of_step},
          {"left_out", layers.left_out}};
}

Json prefixes_of(const Case& c) {
  Json prefixes = Json::array();
  for (int p = 0; p < std::ssize(c.prefixes); ++p) {
    const SharedPrefix& prefix = c.prefixes[static_cast<std::size_t>(p)];
    const bool extends = prefix.parent >= 0;
    prefixes.push_back(
        {{"name", prefix.name},
         {"after",
          extends ? Json(c.prefixes[static_cast<std::size_t>(prefix.parent)].name) : Json(nullptr)},
         {"tokens", own_tokens(c.prefixes, p).size()},
         {"length", prefix.length}});
  }
  return prefixes;
}

/// What a KV write of the step brings to the cache for a cross layer.
std::int64_t encoder_bytes_written(const Case& c) {
  return writes_encoders(c) ? count_cost(with_step(c, StepPart::kKvWrite)).kv_bytes_written : 0;
}

/// Each part that is measured; numbers are null where no backend can run it.
Json costs_of(const Case& c, std::span<const StepPart> measured) {
  Json costs = Json::array();
  for (const ExpandedPart& part : expand_parts(c, measured)) {
    const bool runs = part.why_not.empty();
    const auto number = [runs](std::int64_t n) { return runs ? Json(n) : Json(nullptr); };
    costs.push_back({{"step", to_string(part.of.step)},
                     {"flops", number(part.cost.flops)},
                     {"bytes_unique", number(part.cost.bytes_unique)},
                     {"bytes_streamed", number(part.cost.bytes_streamed)},
                     {"reason", runs ? Json(nullptr) : Json(part.why_not)}});
  }
  return costs;
}

Json requests_of(const Case& c) {
  Json requests = Json::array();
  for (const Request& r : c.requests) {
    // An encoder's keys are no prefix of the decoder's tokens.
    const bool cross = c.layer.is_cross_attention;
    Json request = {{"group", r.group},
                    {"q_len", r.q_len},
                    {"prefix_len", cross ? Json(nullptr) : Json(r.prefix_len())},
                    {"kv_len", r.kv_len},
                    {"shared_prefix", nullptr},
                    {"shared_len", r.shared_len},
                    {"shared_page_len", whole_pages(r.shared_len, c.kv_cache.manager_page())}};
    if (r.shared_prefix >= 0) {
      request["shared_prefix"] = c.prefixes[static_cast<std::size_t>(r.shared_prefix)].name;
    }
    if (cross) request["encoder_cached"] = r.encoder_cached;
    if (!r.tree_parents.empty()) request["tree_parents"] = r.tree_parents;
    if (!r.items.empty()) request["items"] = r.items;
    for (const KeyRun& span : r.spans) {
      request["spans"][std::string(to_string(c.layer.span_rule))].push_back({span.begin, span.end});
    }
    requests.push_back(std::move(request));
  }
  return requests;
}

Json layouts_of(const ExpandedCase& e) {
  Json layouts = Json::object();
  for (const ExpandedCase::Layout& each : e.layouts) {
    Json& buffers = layouts[std::string(to_string(each.layout))];
    for (const CacheBuffer& buffer : each.buffers) {
      buffers[buffer.name] = {{"dtype", buffer.dtype ? to_string(*buffer.dtype) : "u8"},
                              {"shape", buffer.shape},
                              {"bytes", buffer.bytes()}};
    }
  }
  return layouts;
}

Json kv_cache_of(const ExpandedCase& e) {
  Json json = cache_json(e.source->kv_cache);
  json["num_pages"] = e.num_pages;
  json["pages_used"] = e.pages_used;
  json["slots_used"] = e.page_use.slots;
  json["slots_freed"] = e.page_use.slots_freed;
  json["wasted_slots"] = e.page_use.wasted_slots();
  json["utilisation"] = e.page_use.utilisation();
  json["prefix_tokens_again"] = e.page_use.tokens_again;
  json["contiguous_slots"] = e.page_use.contiguous_slots;
  json["contiguous_utilisation"] = e.page_use.contiguous_utilisation();
  json["pool_bytes"] = e.pool_bytes;
  json["layouts"] = layouts_of(e);
  return json;
}

Json states_of(const ExpandedCase& e) {
  return {{"dtype", "f32"},
          {"slots", e.state_slots},
          {"pool_bytes", e.pool_bytes},
          {"intermediate_bytes", e.intermediate_state_bytes}};
}

Json indices_of(const ExpandedCase& e) {
  Json indices = Json::object();
  for (const BuiltIndices& built : e.indices) {
    Json& json = indices[std::string(built.format->name)];
    json["readers"] = built.format->readers;
    if (!built.why_not.empty()) {
      json["why_not"] = built.why_not;
      continue;
    }
    json["arrays"] = Json::object();
    for (const IndexArray& array : built.arrays) {
      json["arrays"][array.name] = {
          {"dtype", array.dtype()}, {"shape", array.shape}, {"values", array.widened()}};
    }
  }
  return indices;
}

/// How SGLang would have FlashInfer read a prompt's keys; null where it has no choice.
Json prefill_of(const Case& c, const VerifyConfig& verify) {
  const auto decision = prefill_of_sglang(c, verify.batch_invariant_required);
  if (!decision) return nullptr;
  return {{"path", to_string(decision->path)}, {"reason", decision->reason}};
}

Json case_of(const ExpandedCase& e, const Scenario& scenario) {
  const Case& c = *e.source;
  Json arrays = Json::object();
  for (const AbridgedArray& array : e.arrays) {
    arrays[array.name] = {{"size", array.size}, {"first", array.head}, {"last", array.tail}};
  }
  return {{"id", c.id},
          {"mix", c.mix},
          {"model", c.model},
          {"model_note", c.model_note},
          {"tp", c.tp},
          {"model_layers", model_layers_of(c.model_layers)},
          {"seed", c.seed},
          {"mode", to_string(c.mode)},
          {"dtype", to_string(c.dtype)},
          {"q_dtype", to_string(c.q_dtype())},
          {"q_scales", to_string(c.fp8.q_scales)},
          {"q_scale", c.q_scale},
          {"out_dtype", to_string(c.out_dtype())},
          {"out_scale", c.out_scale},
          {"layer", layer_json(c.layer)},
          {"kv_cache", c.layer.is_recurrent() ? Json(nullptr) : kv_cache_of(e)},
          {"states", c.layer.is_recurrent() ? states_of(e) : Json(nullptr)},
          {"q_tokens", c.q_tokens()},
          {"kv_tokens", c.kv_tokens()},
          {"visible_pairs", e.cost.visible_pairs},
          {"flops", e.cost.flops},
          {"bytes_unique", e.cost.bytes_unique},
          {"bytes_streamed", e.cost.bytes_streamed},
          {"steps", costs_of(c, scenario.measure.step)},
          {"encoder_bytes_written", encoder_bytes_written(c)},
          {"common_prefix_len", e.common_prefix_len},
          {"use_cascade", e.use_cascade.answer},
          {"use_cascade_reason", e.use_cascade.reason},
          {"sglang_flashinfer_prefill", prefill_of(c, scenario.verify)},
          {"prefixes", prefixes_of(c)},
          {"requests", requests_of(c)},
          {"draft_topk", c.draft_topk},
          {"padding",
           {{"requests", c.padding.requests},
            {"seq_len", c.padding.seq_len},
            {"tokens", c.padding.tokens}}},
          {"index_arrays", std::move(arrays)},
          {"index_arrays_left_out", e.arrays_left_out}};
}

}  // namespace

void write_expand_json(const Scenario& scenario, const std::vector<const Case*>& cases,
                       std::ostream& out, std::span<const IndexFormat* const> formats) {
  Json root = {{"scenario", scenario.name},
               {"path", scenario.path},
               {"sha256", scenario.sha256},
               {"seed", scenario.seed},
               {"cases", Json::array()}};
  for (const Case* c : cases) {
    for (const Case& step : steps_of(*c)) {
      const ExpandedCase e = expand_case(step, formats);
      root["cases"].push_back(case_of(e, scenario));
      if (!formats.empty()) root["cases"].back()["indices"] = indices_of(e);
    }
  }
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
