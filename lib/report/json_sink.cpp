// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <ostream>

#include "lib/report/record_text.h"
#include "lib/report/sinks.h"
#include "lib/report/sweep_json.h"

namespace attnbench {
namespace {

/// JSON has no NaN and no infinity: they become null, and the verdict says what happened.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json device_of(const DeviceInfo& d) {
  return {{"kind", d.kind == DeviceKind::kCpu ? "cpu" : "cuda"},
          {"name", d.name},
          {"arch", d.arch},
          {"units", d.units},
          {"last_level_cache_bytes", d.last_level_cache_bytes},
          {"memory_bytes", d.memory_bytes}};
}

Json ceilings_of(const Ceilings& c) {
  return {{"read_bytes_per_s", number(c.read_bytes_per_s)},
          {"copy_bytes_per_s", number(c.copy_bytes_per_s)},
          {"flop_per_s", number(c.flop_per_s)}};
}

Json devices_of(const RunResult& run) {
  Json devices = Json::array();
  for (const DeviceRates& each : run.devices) {
    devices.push_back(device_of(each.device));
    devices.back()["ceilings"] = ceilings_of(each.ceilings);
  }
  return devices;
}

Json environment_of(const Environment& e) {
  return {{"version", e.version},
          {"git_sha", e.git_sha},
          {"build_type", e.build_type},
          {"compiler", e.compiler},
          {"flags", e.flags},
          {"os", e.os},
          {"hostname_hash", e.hostname_hash},
          {"threads", e.threads},
          {"started_utc", e.started_utc},
          {"device", device_of(e.device)}};
}

Json time_of(const Record& r) {
  if (!r.timed) return nullptr;
  return {{"median", number(r.timing.median_us)},
          {"lo", has_interval(r) ? number(r.timing.lo_us) : Json(nullptr)},
          {"hi", has_interval(r) ? number(r.timing.hi_us) : Json(nullptr)},
          {"q1", number(r.timing.q1_us)},
          {"q3", number(r.timing.q3_us)},
          {"min", number(r.timing.min_us)},
          {"max", number(r.timing.max_us)},
          {"samples", r.timing.samples},
          {"rounds", r.timing.rounds}};
}

Json error_of(const Record& r) {
  if (r.error.rows == 0) return nullptr;
  const WorstElement& w = r.error.worst;
  return {{"max_abs", number(r.error.max_abs)},
          {"max_abs_over_rms", number(r.error.max_abs_over_rms)},
          {"nmse", number(r.error.nmse)},
          {"bound_ratio", number(r.error.bound_ratio)},
          {"rms_ratio", number(r.error.rms_ratio)},
          {"lse", number(r.error.lse_abs)},
          {"lse_bound_ratio", number(r.error.lse_bound_ratio)},
          {"rows", r.error.rows},
          {"non_finite", r.error.non_finite},
          {"fill", r.error.fill},
          {"worst",
           {{"request", w.request},
            {"group", w.group},
            {"token", w.token},
            {"head", w.head},
            {"dim", w.dim},
            {"page", w.page},
            {"got", number(w.got)},
            {"want", number(w.want)}}}};
}

Json aa_of(const Record& r) {
  if (r.aa.pairs == 0) return nullptr;
  const auto end = [&](double value) {
    return r.aa.has_interval() ? number(value) : Json(nullptr);
  };
  return {{"pairs", r.aa.pairs}, {"ratio", number(r.aa.median)}, {"lo", end(r.aa.lo)},
          {"hi", end(r.aa.hi)},  {"floor", end(r.aa.floor())},   {"largest", number(r.aa.largest)}};
}

Json index_of(const Record& r) {
  if (!has_index_timing(r)) return nullptr;
  return {{"device", number(r.index.device_us)}, {"host", number(r.index.host_us)}};
}

Json graph_n_of(const Record& r) {
  const GraphOfMany& g = r.graph_n;
  if (!g.tried()) return nullptr;
  const auto figure = [&](bool exists, double value) {
    return exists ? number(value) : Json(nullptr);
  };
  return {{"forwards", g.repeats.forwards},
          {"sets", g.repeats.sets},
          {"status", graph_n_status(r)},
          {"reason", g.reason},
          {"median", figure(g.timed(), g.timing.median_us)},
          {"lo", figure(graph_n_has_interval(r), g.timing.lo_us)},
          {"hi", figure(graph_n_has_interval(r), g.timing.hi_us)},
          {"samples", g.timing.samples},
          {"rounds", g.timing.rounds}};
}

Json tested(int property) { return property < 0 ? Json(nullptr) : Json(property == 1); }

Json layer_of(const Record& r) {
  const LayerFacts& l = r.layer;
  return {{"attention", l.attention},
          {"causal", l.causal},
          {"cross_attention", l.cross},
          {"sinks", l.sinks},
          {"alibi", l.alibi},
          {"sliding_window_size",
           l.sliding_window_size >= 0 ? Json(l.sliding_window_size) : Json(nullptr)},
          {"scale", number(l.scale)},
          {"logit_cap", l.logit_cap > 0 ? number(l.logit_cap) : Json(nullptr)}};
}

Json kv_cache_of(const Record& r) {
  return {{"layout", r.kv_cache.layout},
          {"placement", r.kv_cache.placement},
          {"k_scale", number(r.kv_cache.k_scale)},
          {"v_scale", number(r.kv_cache.v_scale)}};
}

Json record_of(const Record& r) {
  const bool claims = r.claims_speed();
  return {
      {"scenario", r.scenario},
      {"case", r.case_id},
      {"mix", r.mix},
      {"model", r.model},
      {"backend", r.backend},
      {"backend_version", r.backend_version},
      {"device", r.device},
      {"cache", to_string(r.cache)},
      {"launch", to_string(r.launch)},
      {"mode", r.mode},
      {"dtype", r.dtype},
      {"kv_dtype", r.kv_dtype},
      {"heads_q", r.heads_q},
      {"heads_kv", r.heads_kv},
      {"head_dim_qk", r.head_dim_qk},
      {"head_dim_v", r.head_dim_v},
      {"page_size", r.page_size},
      {"tp", r.tp},
      {"layer", layer_of(r)},
      {"kv_cache", kv_cache_of(r)},
      {"sweep", sweep_json(r)},
      {"requests", r.requests},
      {"q_tokens", r.q_tokens},
      {"kv_tokens", r.kv_tokens},
      {"status", r.status},
      {"reason", r.reason},
      {"verdict", to_string(r.verdict)},
      {"time_us", time_of(r)},
      {"plan_us", r.timed ? number(r.plan.median_us) : Json(nullptr)},
      {"plan_max_us", r.timed ? number(r.plan.max_us) : Json(nullptr)},
      {"enqueue_us", has_device_timer(r) ? number(r.timing.enqueue_us) : Json(nullptr)},
      {"sm_mhz", r.timed && r.timing.sm_mhz > 0 ? number(r.timing.sm_mhz) : Json(nullptr)},
      {"discarded", r.timed ? Json(r.timing.discarded) : Json(nullptr)},
      {"clock_events", to_string(r.timing.clock_events)},
      {"short", r.is_short},
      {"index_us", index_of(r)},
      {"visible_pairs", r.cost.visible_pairs},
      {"flops", r.cost.flops},
      {"bytes_unique", r.cost.bytes_unique},
      {"bytes_streamed", r.cost.bytes_streamed},
      {"kv_bytes_unique", r.cost.kv_bytes_unique},
      {"kv_bytes_streamed", r.cost.kv_bytes_streamed},
      {"tflop_per_s", claims ? number(r.tflop_per_s()) : Json(nullptr)},
      {"gb_per_s", claims ? number(r.gb_per_s()) : Json(nullptr)},
      {"roofline", claims ? number(r.roofline) : Json(nullptr)},
      {"cache_resident", r.cache_resident},
      {"impossible", r.impossible},
      {"error", error_of(r)},
      {"bitwise",
       {{"repeatable", tested(r.bitwise.repeatable)},
        {"page_permutation_invariant", tested(r.bitwise.page_permutation_invariant)},
        {"batch_invariant", tested(r.bitwise.batch_invariant)}}},
      {"fixture_hash", r.fixture_hash},
      {"repro", r.repro},
      {"aa", aa_of(r)},
      {"use_cascade", r.use_cascade.answer},
      {"use_cascade_reason", r.use_cascade.reason},
      {"graph_n", graph_n_of(r)},
      {"graph_forced", r.graph_forced},
      {"samples_checked", r.samples_checked},
  };
}

Json source_of(const ScenarioSource& s) {
  return {{"name", s.name}, {"path", s.path}, {"sha256", s.sha256}, {"seed", s.seed}};
}

}  // namespace

void write_json(const RunResult& run, std::ostream& out) {
  Json root = {{"schema_version", "1.3.0"},
               {"environment", environment_of(run.environment)},
               {"ceilings", ceilings_of(run.ceilings)},
               {"devices", devices_of(run)},
               {"scenario", run.scenarios.empty() ? Json(nullptr) : source_of(run.scenarios[0])},
               {"scenarios", Json::array()},
               {"wall_s", number(run.wall_s)},
               {"measuring_s", number(run.measuring_s)},
               {"interrupted", run.interrupted},
               {"records", Json::array()}};
  for (const ScenarioSource& each : run.scenarios) root["scenarios"].push_back(source_of(each));
  for (const Record& record : run.records) root["records"].push_back(record_of(record));
  // A backend's message may hold anything: bytes that are no UTF-8 are replaced, not thrown at.
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
