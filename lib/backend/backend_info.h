// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "lib/backend/cuda_graph_support.h"
#include "lib/device/device.h"

namespace attnbench {

/// What a backend is; constant.
struct BackendInfo {
  std::string name;  ///< registered name, "cpu_flash"
  std::string version;
  /// The installed packages that it calls, as pip names them, the main one first: "vllm==0.22.0
  /// torch==2.11.0". Empty for a backend that stands on its own.
  std::string packages;
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
  /// True: supports() is asked for problems whose queries, or outputs, are in fp8, too
  /// (Problem::fp8).
  bool reads_fp8_queries = false, writes_fp8_outputs = false;
  /// True: supports() is asked for latent attention whose queries come apart
  /// (AttentionLayer::queries_apart), too.
  bool reads_queries_apart = false;
  /// Takes part where no backend is named. A variant, which is there to be compared with its base,
  /// does not: "splitkv:dynamic".
  bool by_default = true;
  /// What an engine is started with so that it runs the kernel as this variant does,
  /// "--triton-attention-num-kv-splits 16"; empty: nothing, or there is no such option.
  std::string engine_flag;
};

}  // namespace attnbench
