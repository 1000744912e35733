// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/cell_fields.h"

#include <array>
#include <string>
#include <vector>

#include "lib/result/field_access.h"
#include "lib/result/struct_fields.h"
#include "lib/scenario/case_fields.h"

namespace attnbench {
namespace {

constexpr std::array kLaunches = {LaunchMode::kEager, LaunchMode::kGraph};

bool has_kv_cache(const Record& r) { return !r.is_recurrent(); }
bool has_fp8_queries(const Record& r) { return r.fp8.q.has_value(); }
bool has_fp8_outputs(const Record& r) { return r.fp8.out.has_value(); }

}  // namespace

std::vector<RecordField> cell_fields() {
  using R = Record;
  const std::vector<std::string> modes = {"extend",        "decode",          "mixed",
                                          "idle",          "target_verify",   "draft_extend",
                                          "split_prefill", "draft_extend_v2", "dllm_extend"};
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
      {"dtype", "dtype", "", of_dtypes(member<&R::dtype>()),
       "Of new K and V, and of Q and O where fp8 says nothing else"},
      {"kv_dtype", "kv_dtype", "", word<kDTypes, &R::kv_cache, &KvCacheConfig::dtype>(),
       "Of the KV cache; null here and below: the layer has none", has_kv_cache},
      {"heads_q", "heads_q", "", member<&R::layer, &AttentionLayer::heads_q>(),
       "Query heads of this tensor-parallel rank; of linear layers heads of queries and keys"},
      {"heads_kv", "heads_kv", "", member<&R::layer, &AttentionLayer::heads_kv>(),
       "KV heads of this rank; of linear layers heads of values, states and outputs"},
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
       "step of it whose prompts are expanded, or a linear layer (gated delta net, Kimi delta or "
       "lightning attention, Mamba-2), which keeps a state instead of keys and values"},
  };
  add_rows<&R::layer>(fields, "layer/", layer_fields());
  add_rows<&R::kv_cache>(fields, "kv_cache/", cache_fields(), has_kv_cache);
  const std::vector<RecordField> of_batch = {
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
  };
  fields.insert(fields.end(), of_batch.begin(), of_batch.end());
  return fields;
}

}  // namespace attnbench
