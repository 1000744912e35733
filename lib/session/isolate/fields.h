// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lib/backend/backend_info.h"
#include "lib/measure/sample_source.h"
#include "lib/scenario/scenario.h"
#include "lib/session/batched_graph.h"
#include "lib/session/index_timing.h"
#include "lib/session/session.h"
#include "lib/verify/observation.h"

// The members of what a run and its workers exchange, each listed once: json_fields.h writes and
// reads them all. A member that is missing here does not compile.

namespace attnbench {

template <class Visit>
void visit_fields(BackendInfo& value, Visit visit) {
  auto& [name, version, packages, kernel, description, index_format, device, deterministic,
         cuda_graph, padding_seq_len, writes_kv, reads_fp8_queries, writes_fp8_outputs,
         reads_queries_apart, by_default, engine_flag] = value;
  visit(name, version, packages, kernel, description, index_format, device, deterministic,
        cuda_graph, padding_seq_len, writes_kv, reads_fp8_queries, writes_fp8_outputs,
        reads_queries_apart, by_default, engine_flag);
}

template <class Visit>
void visit_fields(CaseAxis& value, Visit visit) {
  auto& [case_id, path, values] = value;
  visit(case_id, path, values);
}

template <class Visit>
void visit_fields(ClockEvents& value, Visit visit) {
  auto& [power_cap, thermal, hw_slowdown] = value;
  visit(power_cap, thermal, hw_slowdown);
}

template <class Visit>
void visit_fields(GpuProcess& value, Visit visit) {
  auto& [pid, memory_bytes] = value;
  visit(pid, memory_bytes);
}

template <class Visit>
void visit_fields(DeviceInfo& value, Visit visit) {
  auto& [kind, name, arch, units, last_level_cache, memory, cpu_target, driver, cuda] = value;
  visit(kind, name, arch, units, last_level_cache, memory, cpu_target, driver, cuda);
}

template <class Visit>
void visit_fields(Ceilings& value, Visit visit) {
  auto& [read, copy, flop] = value;
  visit(read, copy, flop);
}

template <class Visit>
void visit_fields(Numerics& value, Visit visit) {
  auto& [qk_input, p, accumulator, partial_out, partial_roundings, lse] = value;
  visit(qk_input, p, accumulator, partial_out, partial_roundings, lse);
}

template <class Visit>
void visit_fields(WorstElement& value, Visit visit) {
  auto& [request, group, token, head, dim, page, got, want, state_row] = value;
  visit(request, group, token, head, dim, page, got, want, state_row);
}

template <class Visit>
void visit_fields(BitwiseProperties& value, Visit visit) {
  auto& [repeatable, page_permutation_invariant, batch_invariant] = value;
  visit(repeatable, page_permutation_invariant, batch_invariant);
}

template <class Visit>
void visit_fields(FillOutputs& value, Visit visit) {
  auto& [rows, pages, non_finite_elsewhere, first_elsewhere] = value;
  visit(rows, pages, non_finite_elsewhere, first_elsewhere);
}

template <class Visit>
void visit_fields(Observation& value, Visit visit) {
  auto& [numerics, fills, bitwise, slots_checked, first_use_us, building_us, kernel, faults,
         odd_damage, crash, parts] = value;
  visit(numerics, fills, bitwise, slots_checked, first_use_us, building_us, kernel, faults,
        odd_damage, crash, parts);
}

template <class Visit>
void visit_fields(HostTiming& value, Visit visit) {
  auto& [median_us, max_us] = value;
  visit(median_us, max_us);
}

template <class Visit>
void visit_fields(PlanCost& value, Visit visit) {
  auto& [host, workspace_bytes, building_us] = value;
  visit(host, workspace_bytes, building_us);
}

template <class Visit>
void visit_fields(RecordedPlan& value, Visit visit) {
  auto& [update, workspace_bytes, refusal] = value;
  visit(update, workspace_bytes, refusal);
}

template <class Visit>
void visit_fields(IndexTiming& value, Visit visit) {
  auto& [device_us, host_us] = value;
  visit(device_us, host_us);
}

template <class Visit>
void visit_fields(BatchedGraph& value, Visit visit) {
  auto& [forwards, sets] = value;
  visit(forwards, sets);
}

template <class Visit>
void visit_fields(FirstSamples& value, Visit visit) {
  auto& [settled_mhz, sample_s, spent_s, damage] = value;
  visit(settled_mhz, sample_s, spent_s, damage);
}

template <class Visit>
void visit_fields(TimedSample& value, Visit visit) {
  auto& [us, enqueue_us, clock_mhz, lead_us, disturbed] = value;
  visit(us, enqueue_us, clock_mhz, lead_us, disturbed);
}

template <class Visit>
void visit_fields(SampleIo::Unwritten& value, Visit visit) {
  auto& [out, lse, first_out, first_lse] = value;
  visit(out, lse, first_out, first_lse);
}

template <class Visit>
void visit_fields(SampleOutputs& value, Visit visit) {
  auto& [number, rows, unwritten] = value;
  visit(number, rows, unwritten);
}

template <class Visit>
void visit_fields(SampleBlock& value, Visit visit) {
  auto& [samples, outputs, damage, spent_s, clock_events, processes] = value;
  visit(samples, outputs, damage, spent_s, clock_events, processes);
}

template <class Visit>
void visit_fields(RowId& value, Visit visit) {
  auto& [request, token, head, state_row] = value;
  visit(request, token, head, state_row);
}

template <class Visit>
void visit_fields(WantedRows& value, Visit visit) {
  auto& [fills, rows, compositions, parts] = value;
  visit(fills, rows, compositions, parts);
}

}  // namespace attnbench
