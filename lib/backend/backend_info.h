// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/python_environment.h"
#include "lib/backend/support.h"
#include "lib/batch/index_outputs.h"
#include "lib/batch/problem.h"
#include "lib/device/device.h"

namespace attnbench {

/// Batches that a backend lets a CUDA graph repeat; each level includes those before it. vLLM's
/// AttentionCGSupport (v1/attention/backend.py), same values: a model with several backends has the
/// least of theirs.
enum class CudaGraphSupport : std::uint8_t {
  kNever = 0,
  kUniformSingleTokenDecode = 1,  ///< one query token per request
  kUniformBatch = 2,              ///< the same number of query tokens per request: target_verify
  kAlways = 3,                    ///< prompts and decodes in any mix
};

/// vLLM's spelling: "UNIFORM_BATCH".
[[nodiscard]] std::string_view to_string(CudaGraphSupport support);

/// The least level that lets an engine capture the problem's largest step and replay it for others
/// within its limits. Prompts need kAlways even where they are equally long: a graph is captured
/// for a number of query tokens, and the next prompts divide it otherwise.
[[nodiscard]] CudaGraphSupport needed_cuda_graph_support(const Problem& problem);

/// What a backend is; constant.
struct BackendInfo {
  std::string name;  ///< registered name, "cpu_flash"
  std::string version;
  /// The installed packages that it calls, as pip names them, the main one first: "vllm==0.22.0
  /// torch==2.11.0". Empty for a backend that stands on its own.
  std::string packages;
  PythonEnvironment environment;  ///< in which it runs and these are; empty: none
  std::string kernel;        ///< the operation as its package calls it; empty without a package
  std::string description;   ///< one line for `attnbench list backends`
  std::string index_format;  ///< "kv_indptr/kv_indices", "page_table", …
  DeviceKind device = DeviceKind::kCpu;
  bool deterministic = true;  ///< promises bitwise equal repeats; a differing repeat is INCORRECT
  CudaGraphSupport cuda_graph = CudaGraphSupport::kNever;
  /// seq_len of the requests that fill a batch up to the size of a recorded one: 0, or 1 where a
  /// kernel needs a key. Their rows of the outputs are never read.
  std::int32_t padding_seq_len = 1;
  /// True: supports() is asked for steps that write keys and values into the cache (StepPart), too.
  bool writes_kv = false;
  /// Index arrays that it builds: supports() is asked for such steps (StepPart::kIndex), too.
  std::vector<IndexForm> builds_indices{};
  /// True: it lists the keys of the highest scores: supports() is asked for steps of
  /// StepPart::kSelect, too.
  bool selects_keys = false;
  /// True: it computes an indexer's logits: supports() is asked for steps of StepPart::kIndexer,
  /// too.
  bool scores_keys = false;
  /// True: it brings index keys to an indexer's cache: supports() is asked for steps of
  /// StepPart::kIndexWrite, too.
  bool writes_index_keys = false;
  /// True: it makes compressed rows: supports() is asked for steps of StepPart::kCompress, too.
  bool compresses = false;
  /// True: it does all of StepPart::kPipeline, or, if it writes keys and values, of
  /// StepPart::kKvPipeline, and if it writes index keys as well, of StepPart::kLayer, and nothing
  /// else.
  bool runs_pipeline = false;
  /// True: the lists of a layer with a selection are read when its plan runs, so that a selector of
  /// the same step may write them, and not when it plans, but for their lengths.
  bool reads_lists_at_run = false;
  /// True: as a selector it brings tails to the end of its lists (IndexScores::tails).
  bool lists_tails = false;
  /// True: as a selector it can leave lists that end in the last column
  /// (SelectionPadding::kFront).
  bool pads_front = false;
  /// True: as a stage of a pipeline that is recorded, its plans can be updated to the next step.
  /// What the stage before leaves stays where it was when they were planned.
  bool updates_in_pipelines = false;
  /// True: supports() is asked for problems whose queries, or outputs, are in fp8, too
  /// (Problem::fp8).
  bool reads_fp8_queries = false, writes_fp8_outputs = false;
  /// True: supports() is asked for latent attention whose queries come apart
  /// (AttentionLayer::queries_apart), too.
  bool reads_queries_apart = false;
  /// The layers in which it takes part where no backend is named; empty: all.
  std::vector<Family> only_families{};
  /// Takes part where no backend is named. A variant, which is there to be compared with its base,
  /// does not: "splitkv:dynamic".
  bool by_default = true;
  /// What an engine is started with so that it runs the kernel as this variant does,
  /// "--triton-attention-num-kv-splits 16"; empty: nothing, or there is no such option.
  std::string engine_flag;
};

/// Whether a backend takes part in such steps where none is named. One that builds arrays attends
/// to nothing: it runs only the parts that it says it builds.
[[nodiscard]] bool is_for_step(const BackendInfo& info, StepPart part);

/// Whether a selector can leave lists as the problem's selection pads them.
[[nodiscard]] Support supports_padding(const BackendInfo& selector, const Problem& problem);

/// Whether an engine could run the problem from a full CUDA graph of this backend: the level that
/// its largest step needs and the one that the backend claims, in the reason when it could not.
[[nodiscard]] Support supports_cuda_graph(const BackendInfo& info, const Problem& problem);

}  // namespace attnbench
