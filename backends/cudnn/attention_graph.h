// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn_graph.h>

#include <cstdint>
#include <vector>

#include "backends/cudnn/descriptor.h"
#include "backends/cudnn/shape.h"

namespace attnbench::cudnn {

/// What a run of a plan is given, by the tensors' ids. Numbers are in host memory, all else is on
/// the device. B requests.
enum Uid : std::int64_t {
  kQ = 1,         ///< of the shape's dtype; without ragged offsets request r begins at r * q_len
  kK,             ///< pages, or this step's keys
  kV,             ///< likewise
  kOut,           ///< as Q
  kLse,           ///< f32, natural log
  kQLens,         ///< [B] i32
  kKvLens,        ///< [B] i32
  kPageTableOfK,  ///< [B, pages_per_request] i32; a page that a request has no keys in is not used
  kPageTableOfV,  ///< the same one
  kRaggedQ,       ///< [B + 1] i64, where a request's rows begin, in elements; so for the others
  kRaggedK,
  kRaggedV,
  kRaggedOut,
  kRaggedLse,
  kSinks,       ///< [Hq] f32
  kScale,       ///< f32, of q.k
  kValueScale,  ///< f32, of V
  kMasked,      ///< f32, the logit of a masked key: -inf
  kKeysBefore,  ///< i32, keys of a window up to the query's own
  kKeysAhead,   ///< i32, keys behind the query's own that it sees
  kFirstInner,  ///< ids from here on are the graph's inner tensors
};

/// cuDNN's operation graph of attention over a shape, as the operations whose pattern it recognises
/// as scaled dot product attention, and no others: a kernel is chosen by the pattern. It is the
/// last of the descriptors; the others are what it refers to. Throws a runtime_error where cuDNN
/// refuses an operation.
[[nodiscard]] std::vector<Descriptor> attention_graph(const AttentionShape& shape,
                                                      cudnnHandle_t handle);

}  // namespace attnbench::cudnn
