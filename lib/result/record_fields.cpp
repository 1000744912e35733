// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record_fields.h"

#include <string>
#include <vector>

#include "lib/result/cell_fields.h"
#include "lib/result/field_access.h"
#include "lib/result/record_text.h"
#include "lib/result/struct_fields.h"
#include "lib/scenario/case_fields.h"

namespace attnbench {
namespace {

bool is_updated(const Record& r) { return r.is_timed() && r.update.median_us > 0; }
bool has_clock(const Record& r) { return r.is_timed() && r.timing.sm_mhz > 0; }
bool aa_has_interval(const Record& r) { return r.aa.has_interval(); }
bool has_batched_graph_timing(const Record& r) { return r.graph_n.timed(); }
bool has_lse(const Record& r) { return r.error.lse_abs >= 0; }
bool has_sglang_choice(const Record& r) { return !r.engine_choice.sglang.empty(); }
bool has_vllm_choice(const Record& r) { return !r.engine_choice.vllm.empty(); }
bool has_workspace(const Record& r) { return r.workspace_bytes > 0; }
bool was_used(const Record& r) { return r.first_use_us > 0; }

std::vector<RecordField> make_fields() {
  using R = Record;
  using Time = CellTiming;
  using Error = ErrorMetrics;
  using Worst = WorstElement;
  using Declared = DeclaredFacts;
  using Sharers = GpuSharers;
  std::vector<RecordField> fields = cell_fields();
  const std::vector<RecordField> found = {
      {"status", "status", "", word<kMeasureStatuses, &R::timing, &Time::status>(),
       "How the measurement ended"},
      {"reason", "reason", "", reason_access(),
       "Why not passed, not converged or not measured; empty when all is well"},
      {"verdict", "verdict", "", verdict_access(), "What is known about the result's correctness"},
      {"time_us/median", "median_us", "us", median_access(), "Median of the block medians"},
      {"time_us/lo", "lo_us", "us", member<&R::timing, &Time::lo_us>(),
       "Lower end of its 95 % interval; null below six rounds, which have none", has_interval},
      {"time_us/hi", "hi_us", "us", member<&R::timing, &Time::hi_us>(),
       "Upper end of that interval; null below six rounds", has_interval},
      {"time_us/q1", "q1_us", "us", member<&R::timing, &Time::q1_us>(),
       "First quartile of all samples"},
      {"time_us/q3", "q3_us", "us", member<&R::timing, &Time::q3_us>(), "Third quartile"},
      {"time_us/min", "min_us", "us", member<&R::timing, &Time::min_us>(), "Fastest sample"},
      {"time_us/max", "max_us", "us", member<&R::timing, &Time::max_us>(), "Slowest sample"},
      {"time_us/samples", "samples", "", member<&R::timing, &Time::samples>(), "Timed forwards"},
      {"time_us/rounds", "rounds", "", member<&R::timing, &Time::rounds>(), "Visits to the cell"},
      {"time_us/blocks", "", "us", blocks_access(),
       "[round, median of its samples] of each visit; cells of a case share the rounds"},
      {"plan_us", "plan_us", "us", member<&R::plan, &HostTiming::median_us>(),
       "Host time of Backend::plan(), median; null: not timed", &R::is_timed},
      {"plan_max_us", "plan_max_us", "us", member<&R::plan, &HostTiming::max_us>(),
       "The slowest of them; null: not timed", &R::is_timed},
      {"first_use_us", "first_use_us", "us", member<&R::first_use_us>(),
       "Host time of the case's first plan and run, with all that a library compiles, loads or "
       "tries out at the first use of such a case in a process; null: not verified",
       was_used},
      {"update_us", "update_us", "us", member<&R::update, &HostTiming::median_us>(),
       "Host time of Plan::update(), median: what a recorded plan needs to take on the next step's "
       "batch; null: not measured",
       is_updated},
      {"workspace_bytes", "workspace_bytes", "bytes", member<&R::workspace_bytes>(),
       "Workspace that the plan reserved, without index arrays; null: none was reserved, so that "
       "it needs none or its library has memory of its own, which is not known",
       has_workspace},
      {"enqueue_us", "enqueue_us", "us", member<&R::timing, &Time::enqueue_us>(),
       "Host time of the call that launches a forward, median; null where the work is done when "
       "that call returns (CPU)",
       has_device_timer},
      {"sm_mhz", "sm_mhz", "MHz", member<&R::timing, &Time::sm_mhz>(),
       "Median clock of a GPU's SMs during the samples; null where it cannot be told", has_clock},
      {"discarded", "discarded", "", member<&R::timing, &Time::discarded>(),
       "Samples taken below 0.95 of the settled clock, not counted in time_us", &R::is_timed},
      {"clock_events", "clock_events", "", clock_events_access(),
       "Why the clock was held down during any block; empty when it was not, or cannot be told"},
      {"gpu_sharers/processes", "gpu_sharers", "",
       member<&R::timing, &Time::sharers, &Sharers::processes>(),
       "Processes of other programs that had a context on the GPU, the most at the end of any "
       "block; they may have been idle"},
      {"gpu_sharers/memory_bytes", "gpu_sharers_memory", "B",
       member<&R::timing, &Time::sharers, &Sharers::memory_bytes>(),
       "Memory of theirs; 0: not told"},
      {"others/busy_processors", "others_busy_processors", "",
       member<&R::others, &OtherPrograms::busy_processors>(),
       "Processors that other programs kept busy, mean over the case and the second before it"},
      {"others/processors", "processors", "", member<&R::others, &OtherPrograms::processors>(),
       "Processors of the machine"},
      {"short", "short", "", member<&R::is_short>(),
       "On a GPU and below 10 us: the launch itself (0.6 to 0.8 us on an H200) and the timer's "
       "step are part of the figure"},
      {"index_us/device", "index_device_us", "us", member<&R::index, &IndexTiming::device_us>(),
       "By kernels in GPU memory"},
      {"index_us/host", "index_host_us", "us", member<&R::index, &IndexTiming::host_us>(),
       "By the host in its own memory"},
      {"visible_pairs", "visible_pairs", "", member<&R::cost, &Cost::visible_pairs>(),
       "(query, key) pairs that the mask lets through, for a query head; the mean, rounded up, "
       "where lists of chosen keys that repeat keys differ"},
      {"flops", "flops", "", member<&R::cost, &Cost::flops>(),
       "2 heads_q (head_dim_qk + head_dim_v) visible_pairs; linear layers: 7 (without a delta 5) "
       "heads_kv "
       "head_dim_qk head_dim_v q_tokens"},
      {"bytes_unique", "bytes_unique", "bytes", member<&R::cost, &Cost::bytes_unique>(),
       "Each distinct byte of Q, K, V, O and LSE once"},
      {"bytes_streamed", "bytes_streamed", "bytes", member<&R::cost, &Cost::bytes_streamed>(),
       "The same with KV counted for each request that reads it"},
      {"kv_bytes_unique", "kv_bytes_unique", "bytes", member<&R::cost, &Cost::kv_bytes_unique>(),
       "KV part of bytes_unique"},
      {"kv_bytes_streamed", "kv_bytes_streamed", "bytes",
       member<&R::cost, &Cost::kv_bytes_streamed>(), "KV part of bytes_streamed"},
      {"tflop_per_s", "tflop_per_s", "TFLOP/s",
       computed([](const R& r) { return Json(r.tflop_per_s()); }),
       "flops / median / 1e12; null: no speed claimed", &R::claims_speed},
      {"gb_per_s", "gb_per_s", "GB/s", computed([](const R& r) { return Json(r.gb_per_s()); }),
       "bytes_unique / median / 1e9; null: no speed claimed", &R::claims_speed},
      {"roofline", "roofline", "", member<&R::roofline>(),
       "Time at the measured ceilings over the median, 0..1; null: no speed claimed",
       &R::claims_speed},
      {"cache_resident", "cache_resident", "", member<&R::cache_resident>(),
       "bytes_unique fits the last-level cache"},
      {"impossible", "impossible", "", impossible_access(),
       "Faster than 1.02 x a measured ceiling (memory, from a cold or serving cache; arithmetic, "
       "always): the count, the flush, the kernel or the ceiling is wrong"},
      {"declared/text", "declared", "",
       computed([](const R& r) { return Json(r.declared.text()); }, type_of<std::string>()),
       "All of the declaration in one line: qk bf16, p bf16, acc f32, partials f32 x1, lse"},
      {"declared/qk_input", "declared_qk_input", "",
       of_dtypes(member<&R::declared, &Declared::qk_input>()),
       "Type of the operands of q.k after any conversion"},
      {"declared/p", "declared_p", "", of_dtypes(member<&R::declared, &Declared::p>()),
       "Of the softmax weights before they meet V, and of V beside them"},
      {"declared/accumulator", "declared_accumulator", "",
       of_words(member<&R::declared, &Declared::accumulator>(), {"f32", "f16", "bf16"}), "Of sums"},
      {"declared/partial_out", "declared_partial_out", "",
       of_dtypes(member<&R::declared, &Declared::partial_out>()),
       "Of split results between stages"},
      {"declared/partial_roundings", "declared_partial_roundings", "",
       at_least(1, member<&R::declared, &Declared::partial_roundings>()),
       "How often a split result is rounded to that type on its way into the output"},
      {"declared/lse", "declared_lse", "", member<&R::declared, &Declared::lse>(),
       "Whether it writes an LSE, which is then compared"},
      {"error/max_abs", "max_abs", "", member<&R::error, &Error::max_abs>(),
       "Largest |o - ref|, in units of the output"},
      {"error/max_abs_over_rms", "max_abs_over_rms", "",
       member<&R::error, &Error::max_abs_over_rms>(), "The same over RMS(ref)"},
      {"error/nmse", "nmse", "", member<&R::error, &Error::nmse>(),
       "sum (o - ref)^2 / sum (ref^2 + 500 sigma^2), sigma the noise of a correct backend: outputs "
       "that cancel have no power of their own"},
      {"error/bound_ratio", "bound_ratio", "", member<&R::error, &Error::bound_ratio>(),
       "Worst error over its bound; at most 1 passes"},
      {"error/rms_ratio", "rms_ratio", "", member<&R::error, &Error::rms_ratio>(),
       "RMS of error / expected deviation"},
      {"error/lse", "lse_abs", "", member<&R::error, &Error::lse_abs>(),
       "Worst |LSE - ref|, natural logarithm; null: none was compared", has_lse},
      {"error/lse_bound_ratio", "lse_bound_ratio", "", member<&R::error, &Error::lse_bound_ratio>(),
       "The same over its bound", has_lse},
      {"error/rows", "rows", "", member<&R::error, &Error::rows>(), "Rows compared, all fills"},
      {"error/non_finite", "non_finite", "", member<&R::error, &Error::non_finite>(),
       "NaN or wrongly infinite elements"},
      {"error/fill", "fill", "", member<&R::error, &Error::fill>(),
       "Fill of the worst bound_ratio"},
      {"error/worst/request", "worst_request", "",
       at_least(-1, member<&R::error, &Error::worst, &Worst::request>()), "-1: none"},
      {"error/worst/group", "worst_group", "", member<&R::error, &Error::worst, &Worst::group>(),
       "Batch entry of the request"},
      {"error/worst/token", "worst_token", "",
       at_least(-1, member<&R::error, &Error::worst, &Worst::token>()),
       "Query token within the request"},
      {"error/worst/head", "worst_head", "",
       at_least(-1, member<&R::error, &Error::worst, &Worst::head>()),
       "Query head; of linear layers value head"},
      {"error/worst/dim", "worst_dim", "",
       at_least(-1, member<&R::error, &Error::worst, &Worst::dim>()), "-1: the LSE"},
      {"error/worst/page", "worst_page", "",
       at_least(-1, member<&R::error, &Error::worst, &Worst::page>()),
       "Pool page of the query token's own key"},
      {"error/worst/state_row", "worst_state_row", "",
       at_least(-1, member<&R::error, &Error::worst, &Worst::state_row>()),
       "Key dim of the state after the step; -1: the error is in the output; null: there are no "
       "states",
       &R::is_recurrent},
      {"error/worst/got", "", "", member<&R::error, &Error::worst, &Worst::got>(), "Value found"},
      {"error/worst/want", "", "", member<&R::error, &Error::worst, &Worst::want>(),
       "Value of the reference"},
      {"slots_checked", "slots_checked", "", member<&R::slots_checked>(),
       "Slots of the cache that the step wrote, or elements of index arrays, compared exactly, in "
       "all "
       "runs of the verification"},
      {"bitwise/repeatable", "repeatable", "",
       tested<&R::bitwise, &BitwiseProperties::repeatable>(),
       "Two runs give the same bits; null: not tested"},
      {"bitwise/page_permutation_invariant", "page_permutation_invariant", "",
       tested<&R::bitwise, &BitwiseProperties::page_permutation_invariant>(),
       "Other pages, same bits; null: not tested"},
      {"bitwise/batch_invariant", "batch_invariant", "",
       tested<&R::bitwise, &BitwiseProperties::batch_invariant>(),
       "A request alone gives the bits it gives inside the batch; null: not tested"},
      {"fixture_hash", "fixture_hash", "", member<&R::fixture_hash>(),
       "Digest of index arrays and inputs; empty: no fixture was built"},
      {"repro", "repro", "", member<&R::repro>(), "Command line that runs this cell alone"},
      {"aa/pairs", "aa_pairs", "", at_least(1, member<&R::aa, &PairedRatio::pairs>()),
       "Rounds that timed both"},
      {"aa/ratio", "aa_ratio", "", member<&R::aa, &PairedRatio::median>(),
       "exp of the median over rounds of ln(second / first)"},
      {"aa/lo", "aa_lo", "", member<&R::aa, &PairedRatio::lo>(),
       "Lower end of its 95 % interval; null below six pairs", aa_has_interval},
      {"aa/hi", "aa_hi", "", member<&R::aa, &PairedRatio::hi>(),
       "Upper end of that interval; null below six pairs", aa_has_interval},
      {"aa/floor", "aa_floor", "", computed([](const R& r) { return Json(r.aa.floor()); }),
       "The farther end of the interval, less 1: a smaller difference of this cell is noise",
       aa_has_interval},
      {"aa/largest", "aa_largest", "", member<&R::aa, &PairedRatio::largest>(),
       "Ratio of a single round farthest from 1, inverted when below it"},
      {"use_cascade", "use_cascade", "",
       of_words(member<&R::use_cascade, &CascadeChoice::answer>(), {"yes", "no", "-"}),
       "Whether vLLM would attend to the batch's common prefix once for all "
       "(use_cascade_attention) on this GPU, or on 132 multiprocessors without one; -: nothing is "
       "shared"},
      {"use_cascade_reason", "use_cascade_reason", "",
       member<&R::use_cascade, &CascadeChoice::reason>(), "The clause of that rule that decided"},
      {"engine_choice/sglang", "engine_choice_sglang", "",
       member<&R::engine_choice, &ChosenByEngines::sglang>(),
       "Attention backend that SGLang takes for such a case on this GPU where nobody names one",
       has_sglang_choice},
      {"engine_choice/vllm", "engine_choice_vllm", "",
       member<&R::engine_choice, &ChosenByEngines::vllm>(), "The same of vLLM", has_vllm_choice},
      {"engine_choice/sglang_instead_of", "engine_choice_sglang_instead_of", "",
       member<&R::engine_choice, &ChosenByEngines::sglang_instead_of>(),
       "What SGLang would take but for features and pages of the case; empty: the same",
       has_sglang_choice},
      {"engine_choice/vllm_instead_of", "engine_choice_vllm_instead_of", "",
       member<&R::engine_choice, &ChosenByEngines::vllm_instead_of>(), "The same of vLLM",
       has_vllm_choice},
      {"engine_choice/sglang_graph", "engine_choice_sglang_graph", "",
       member<&R::engine_choice, &ChosenByEngines::sglang_graph>(),
       "Why SGLang replays no CUDA graph of this decode or verify step; empty: it does, or the "
       "step is another",
       has_sglang_choice},
      {"engine_choice/vllm_graph", "engine_choice_vllm_graph", "",
       member<&R::engine_choice, &ChosenByEngines::vllm_graph>(), "The same of vLLM",
       has_vllm_choice},
      {"graph_n/forwards", "graph_n_forwards", "",
       at_least(1, member<&R::graph_n, &BatchedGraphTiming::graph, &BatchedGraph::forwards>()),
       "Forwards in the graph, the N of graph×N"},
      {"graph_n/sets", "graph_n_sets", "",
       at_least(1, member<&R::graph_n, &BatchedGraphTiming::graph, &BatchedGraph::sets>()),
       "Sets of inputs that take turns: enough to read 3 x the last-level cache between two uses "
       "of one; 1 in a warm cell"},
      {"graph_n/status", "graph_n_status", "", graph_n_status_access(),
       "How the measurement ended; refused: it claims nothing, for the reason given"},
      {"graph_n/reason", "graph_n_reason", "", member<&R::graph_n, &BatchedGraphTiming::reason>(),
       "Why there is no figure: no memory for the sets, or faster than a ceiling; empty when all "
       "is well"},
      {"graph_n/median", "graph_n_us", "us",
       member<&R::graph_n, &BatchedGraphTiming::timing, &Time::median_us>(),
       "Of one forward: median of the block medians, over N", has_batched_graph_timing},
      {"graph_n/lo", "graph_n_lo_us", "us",
       member<&R::graph_n, &BatchedGraphTiming::timing, &Time::lo_us>(),
       "Lower end of its 95 % interval; null below six rounds", graph_n_has_interval},
      {"graph_n/hi", "graph_n_hi_us", "us",
       member<&R::graph_n, &BatchedGraphTiming::timing, &Time::hi_us>(),
       "Upper end of that interval; null below six rounds", graph_n_has_interval},
      {"graph_n/samples", "graph_n_samples", "",
       member<&R::graph_n, &BatchedGraphTiming::timing, &Time::samples>(), "Timed graphs"},
      {"graph_n/rounds", "graph_n_rounds", "",
       member<&R::graph_n, &BatchedGraphTiming::timing, &Time::rounds>(), "Visits"},
      {"graph_n/blocks", "", "us", graph_n_blocks_access(),
       "[round, median] of each visit, of one forward"},
      {"graph_forced", "graph_forced", "", member<&R::graph_forced>(),
       "A graph that the backend does not claim (--force-graph): a recording of this one batch"},
      {"samples_checked", "samples_checked", "", member<&R::samples_checked>(),
       "Timed samples whose outputs were compared with the reference"},
  };
  fields.insert(fields.end(), found.begin(), found.end());
  add_rows<&R::layer>(fields, "layer/", selection_fields());
  return fields;
}

}  // namespace

const std::vector<RecordField>& record_fields() {
  static const std::vector<RecordField> fields = make_fields();
  return fields;
}

}  // namespace attnbench
