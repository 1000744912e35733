// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/model/attention_layer.h"

namespace attnbench::cuda {

/// What decides visibility within one request: backends/common/visibility.h's inputs, for a kernel.
struct RequestGeometry {
  int kv_len = 0;
  int q_len = 0;
  bool causal = true;            ///< false for cross attention too
  int block = 1;                 ///< AttentionLayer::causal_block
  int window = -1;               ///< previous keys visible, not causal: and keys ahead; -1: all
  bool window_by_depth = false;  ///< in draft trees: WindowInTrees::kDepth
  int chunk = 0;                 ///< keys of a chunk, of which a query sees its own; 0: no chunks
  // Draft trees only; mask is null otherwise.
  const std::uint8_t* mask = nullptr;       ///< of this request, [q_len, kv_len], 1 = visible
  const std::int64_t* positions = nullptr;  ///< of this request's nodes, [q_len]
};

/// Keys that one query token may see: the rule of backends/common/visibility.h, line by line.
struct Visibility {
  int begin = 0;
  int end = 0;
  int position = 0;  ///< of the query among the keys; in a draft tree prefix + depth
  const std::uint8_t* mask = nullptr;       ///< row of this token, [kv_len]
  int prefix = 0;                           ///< keys before the tree's nodes
  const std::int64_t* positions = nullptr;  ///< of the nodes
  int oldest = 0;                           ///< first position inside a window by depth

  /// Siblings share a position, so a node's differs from its index.
  __device__ __forceinline__ int key_position(int key) const {
    return mask != nullptr && key >= prefix ? static_cast<int>(positions[key - prefix]) : key;
  }
  /// Asked of the tree's own keys only: every node sees the committed prefix as far as `begin`
  /// and `end` say, so prefix keys need no look at the mask.
  __device__ __forceinline__ bool tree_hides(int key) const {
    return mask != nullptr && key >= prefix && (mask[key] == 0 || key_position(key) < oldest);
  }
  __device__ __forceinline__ bool sees(int key) const {
    return key >= begin && key < end && !tree_hides(key);
  }
};

__device__ __forceinline__ Visibility visibility_of(const RequestGeometry& request, int token) {
  Visibility seen;
  seen.position = request.kv_len - request.q_len + token;
  seen.end = request.kv_len;
  if (!request.causal) {
    if (request.window < 0) return seen;
    seen.begin = min(max(seen.position - request.window, 0), request.kv_len);
    const int later = request.kv_len - 1 - seen.position;  // subtracted: a window may be 2^31 - 1
    seen.end = max(request.kv_len - max(later - request.window, 0), 0);
    return seen;
  }

  if (request.mask != nullptr) {
    seen.mask = request.mask + static_cast<std::int64_t>(token) * request.kv_len;
    seen.prefix = request.kv_len - request.q_len;
    seen.positions = request.positions;
    seen.position = static_cast<int>(request.positions[token]);
  } else {
    const int behind = min((token / request.block + 1) * request.block, request.q_len);
    seen.end = max(request.kv_len - request.q_len + behind, 0);
  }
  seen.begin = chunk_begin(request.chunk, request.kv_len - request.q_len + token);
  if (request.window < 0) return seen;
  if (seen.mask != nullptr && !request.window_by_depth) {
    seen.begin = max(seen.prefix + token - request.window, seen.begin);
    return seen;
  }
  seen.oldest = seen.position - request.window;
  const int last = seen.mask != nullptr ? seen.prefix : seen.end;
  seen.begin = min(max(seen.oldest, seen.begin), last);
  return seen;
}

}  // namespace attnbench::cuda
