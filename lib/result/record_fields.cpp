// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/record_fields.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "lib/result/field_access.h"
#include "lib/result/record_text.h"
#include "lib/scenario/case_fields.h"

namespace attnbench {
namespace {

constexpr std::array kLaunches = {LaunchMode::kEager, LaunchMode::kGraph};

bool is_updated(const Record& r) { return r.is_timed() && r.update.median_us > 0; }
bool has_clock(const Record& r) { return r.is_timed() && r.timing.sm_mhz > 0; }
bool aa_has_interval(const Record& r) { return r.aa.has_interval(); }
bool has_batched_graph_timing(const Record& r) { return r.graph_n.timed(); }
bool has_kv_cache(const Record& r) { return !r.is_recurrent(); }
bool has_fp8_queries(const Record& r) { return r.fp8.q.has_value(); }
bool has_fp8_outputs(const Record& r) { return r.fp8.out.has_value(); }
bool has_lse(const Record& r) { return r.error.lse_abs >= 0; }
bool has_sglang_choice(const Record& r) { return !r.engine_choice.sglang.empty(); }
bool has_vllm_choice(const Record& r) { return !r.engine_choice.vllm.empty(); }
bool has_workspace(const Record& r) { return r.workspace_bytes > 0; }
bool was_used(const Record& r) { return r.first_use_us > 0; }

/// The fields of a struct that a record holds, below `prefix`.
template <auto kMember, class S>
void add_rows(std::vector<RecordField>& rows, const std::string& prefix,
              const std::vector<Field<S>>& fields, bool (*has_struct)(const Record&) = nullptr) {
  for (const Field<S>& field : fields) {
    if (!field.in_results) continue;
    const std::string& column = field.column.empty() ? field.name : field.column;
    const bool is_nested = field.name.find('/') != std::string::npos;
    RecordField row{prefix + (is_nested ? column : field.name), column, "",
                    inside<kMember>(field.access),
                    field.says + (field.none.empty() ? "" : "; null: " + field.none)};
    if (!field.none.empty() || field.exists != nullptr) {
      row.exists = [field, has_struct](const Record& r) {
        return (has_struct == nullptr || has_struct(r)) && field.has(r.*kMember);
      };
    } else if (has_struct != nullptr) {
      row.exists = has_struct;
    }
    rows.push_back(std::move(row));
  }
}

std::vector<RecordField> make_fields() {
  using R = Record;
  using Time = CellTiming;
  using Error = ErrorMetrics;
  using Worst = WorstElement;
  using Declared = DeclaredFacts;
  using Sharers = GpuSharers;
  const std::vector<std::string> modes = {"extend",        "decode",          "mixed",
                                          "idle",          "target_verify",   "draft_extend",
                                          "split_prefill", "draft_extend_v2", "dllm_extend"};
  const std::vector<std::string> dtypes = {"f32", "f16", "bf16", "e4m3", "e5m2"};
  std::vector<RecordField> fields = {
      {"scenario", "scenario", "", member<&R::scenario>(),
       "Name of the scenario that the case is of"},
      {"case", "case", "", member<&R::case_id>(), "Id of the case; works as --case filter"},
      {"mix", "mix", "", member<&R::mix>(), "Name of the mix in the scenario"},
      {"model", "model", "", member<&R::model>(), "Model preset, or inline"},
      {"backend", "backend", "", member<&R::backend>(), "Registered name"},
      {"backend_version", "backend_version", "", member<&R::backend_version>(),
       "The backend's own version"},
      {"packages", "packages", "", member<&R::packages>(),
       "Installed packages that the backend calls, as pip names them, the main one first; empty: "
       "none"},
      {"environment/name", "environment", "", member<&R::environment, &PythonEnvironment::name>(),
       "Name of the Python environment in which the backend runs; empty: it has none"},
      {"environment/python", "python", "", member<&R::environment, &PythonEnvironment::python>(),
       "The interpreter of that environment"},
      {"kernel", "kernel", "", member<&R::kernel>(),
       "The operation as its package calls it; empty without a package"},
      {"engine_flag", "engine_flag", "", member<&R::engine_flag>(),
       "What an engine is started with so that it runs as this variant does; empty: no variant, or "
       "no engine has an option for it"},
      {"device", "device", "", member<&R::device>(), "Name of the device"},
      {"cache", "cache", "", word<kCacheStates, &R::cache>(),
       "What the last-level cache holds when a sample starts: cold no data of the forward, warm "
       "what the same forward left, serving queries, index arrays and workspace but no KV"},
      {"launch", "launch", "", word<kLaunches, &R::launch>(), "How the forward is launched"},
      {"step", "step", "", word<kStepParts, &R::step>(),
       "Part of the step that is run: " + list_of_parts(&StepPartRow::as_field, ", or ")},
      {"mode", "mode", "", of_words(member<&R::mode>(), modes), "Forward mode of the batch"},
      {"dtype", "dtype", "", of_words(member<&R::dtype>(), dtypes),
       "Of new K and V, and of Q and O where fp8 says nothing else"},
      {"kv_dtype", "kv_dtype", "", word<kDTypes, &R::kv_cache, &KvCacheConfig::dtype>(),
       "Of the KV cache; null here and below: the layer has none", has_kv_cache},
      {"heads_q", "heads_q", "", member<&R::layer, &AttentionLayer::heads_q>(),
       "Query heads of this tensor-parallel rank; gated_delta_net: heads of queries and keys"},
      {"heads_kv", "heads_kv", "", member<&R::layer, &AttentionLayer::heads_kv>(),
       "KV heads of this rank; gated_delta_net: heads of values, states and outputs"},
      {"head_dim_qk", "head_dim_qk", "", member<&R::layer, &AttentionLayer::head_dim_qk>(),
       "Length of q and k rows"},
      {"head_dim_v", "head_dim_v", "", member<&R::layer, &AttentionLayer::head_dim_v>(),
       "Length of v and o rows"},
      {"page_size", "page_size", "", member<&R::kv_cache, &KvCacheConfig::page_size>(),
       "Tokens of a KV page", has_kv_cache},
      {"tp", "tp", "", member<&R::tp>(),
       "Tensor-parallel ranks that share the heads; the heads above are one rank's"},
      {"layer/attention", "attention", "", attention_access(),
       "Separate heads of keys and values (MHA, GQA, MQA), absorbed multi-head latent attention, a "
       "step of it whose prompts are expanded, or a gated delta net, which keeps a state instead "
       "of keys and values"},
  };
  add_rows<&R::layer>(fields, "layer/", layer_fields());
  add_rows<&R::kv_cache>(fields, "kv_cache/", cache_fields(), has_kv_cache);
  const std::vector<RecordField> rest = {
      {"fp8/q_dtype", "q_dtype", "", word<kFp8Types, &R::fp8, &Fp8Activations::q>(),
       "Of queries, where they are in fp8", has_fp8_queries},
      {"fp8/q_scales", "q_scales", "", word<kQScalesKinds, &R::fp8, &Fp8Activations::q_scales>(),
       "What shares a scale of queries in fp8", has_fp8_queries},
      {"fp8/q_scale", "q_scale", "", member<&R::q_scale>(), "Stored Q times it is Q",
       has_fp8_queries},
      {"fp8/out_dtype", "out_dtype", "", word<kFp8Types, &R::fp8, &Fp8Activations::out>(),
       "Of outputs, where they are in fp8", has_fp8_outputs},
      {"fp8/out_scale", "out_scale", "", member<&R::out_scale>(), "Stored O times it is O",
       has_fp8_outputs},
      {"model_layers/kind", "layer_kind", "", member<&R::model_layers, &ModelLayers::kind>(),
       "Kind of the model's layers that this case is: full, sliding, chunked, sparse, linear or "
       "cross"},
      {"model_layers/layers", "layers_of_kind", "",
       member<&R::model_layers, &ModelLayers::layers>(),
       "How many layers of this kind the cell stands for; of a KV write those that write"},
      {"model_layers/of_step", "layers_of_step", "",
       member<&R::model_layers, &ModelLayers::of_step>(),
       "Layers of all kinds that the mix runs, each kind in a case of its own"},
      {"model_layers/left_out", "layers_left_out", "",
       member<&R::model_layers, &ModelLayers::left_out>(),
       "Layers of the model that the mix does not run, as in 36 chunked; empty: none"},
      {"sweep", "sweep", "", sweep_access(),
       "What the sweep put into this case: each key's path with its value as text; empty without a "
       "sweep"},
      {"sweep_numbers", "", "", swept_numbers_access(),
       "Those of them that are numbers, sizes among them: 8192 of 8k; the CSV has a column "
       "sweep:PATH for each, behind all others"},
      {"groups", "", "", groups_access(),
       "Requests by entry of the batch, with their tokens; the CSV has the means of a request in "
       "columns q_len:NAME and kv_len:NAME, behind all others"},
      {"requests", "requests", "", member<&R::requests>(), "Sequences in the batch"},
      {"q_tokens", "q_tokens", "", member<&R::q_tokens>(), "New tokens of this step"},
      {"kv_tokens", "kv_tokens", "", member<&R::kv_tokens>(),
       "Sum of KV lengths; a prefix that several requests share counts once for each"},
      {"q_len_max", "q_len_max", "", member<&R::q_len_max>(), "Most new tokens of a request"},
      {"kv_len_max", "kv_len_max", "", member<&R::kv_len_max>(), "Longest KV of a request"},
      {"padding_requests", "padding_requests", "", member<&R::padding_requests>(),
       "Requests of the step that only fill it up; no other figure counts them"},
      {"padding_tokens", "padding_tokens", "", member<&R::padding_tokens>(),
       "Rows of query tokens that belong to no request; no other figure counts them"},
      {"graph_bucket", "graph_bucket", "", member<&R::graph_bucket>(),
       "Requests of the CUDA graph in which the batch ran, padding included; 0: a launch or a "
       "graph without padding"},
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
       "2 heads_q (head_dim_qk + head_dim_v) visible_pairs; gated_delta_net: 7 heads_kv "
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
       of_words(member<&R::declared, &Declared::qk_input>(), dtypes),
       "Type of the operands of q.k after any conversion"},
      {"declared/p", "declared_p", "", of_words(member<&R::declared, &Declared::p>(), dtypes),
       "Of the softmax weights before they meet V, and of V beside them"},
      {"declared/accumulator", "declared_accumulator", "",
       of_words(member<&R::declared, &Declared::accumulator>(), {"f32", "f16", "bf16"}), "Of sums"},
      {"declared/partial_out", "declared_partial_out", "",
       of_words(member<&R::declared, &Declared::partial_out>(), dtypes),
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
       "Query head; gated_delta_net: value head"},
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
  fields.insert(fields.end(), rest.begin(), rest.end());
  add_rows<&R::layer>(fields, "layer/", selection_fields());
  return fields;
}

}  // namespace

const std::vector<RecordField>& record_fields() {
  static const std::vector<RecordField> fields = make_fields();
  return fields;
}

}  // namespace attnbench
