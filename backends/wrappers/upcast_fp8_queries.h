// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "lib/backend/backend.h"
#include "lib/base/tensor_view.h"
#include "lib/batch/forward_batch.h"

namespace attnbench {

/// Which request a query token of a step on a GPU is of.
struct TokenRequests {
  /// [requests + 1] on the device; null: each request has `q_len` tokens, as in recorded steps.
  const std::int32_t* qo_indptr = nullptr;
  std::int64_t requests = 0;
  std::int64_t q_len = 1;

  [[nodiscard]] constexpr std::int64_t of(std::int64_t token) const {
    if (qo_indptr == nullptr) return token / q_len;
    // The token's is among them; rows behind those of all requests count as the last one's.
    std::int64_t first = 0, end = requests;
    while (end - first > 1) {
      const std::int64_t middle = first + (end - first) / 2;
      (qo_indptr[middle] <= token ? first : end) = middle;
    }
    return first;
  }
};
/// Of a batch whose index tensors the device has.
[[nodiscard]] TokenRequests token_requests(const ForwardBatch& batch);

/// Queries in fp8, and where they are to lie in a wider type.
struct UpcastFp8Queries {
  ConstTensorView from;    ///< [T, Hq, dk] in e4m3 or e5m2; dk is a multiple of 4
  TensorView to;           ///< dense, in bf16 or f16, which hold each number of `from`
  QScaleArray scales;      ///< numbers are multiplied with, if there are some
  TokenRequests requests;  ///< where scales are of requests

  /// Of a row.
  [[nodiscard]] constexpr float scale(std::int64_t token, int head) const {
    const bool by_request = scales.kind == QScales::kRequest && scales.scales != nullptr;
    return scales.of(by_request ? requests.of(token) : 0, token, head);
  }
};
/// Enqueues the work on the stream.
using EnqueueUpcast = void (*)(const UpcastFp8Queries& queries, Stream& stream);
void upcast_fp8_queries_on_gpu(const UpcastFp8Queries& queries, Stream& stream);

/// `kernels`, whose tensor cores take queries in the type of the activations, with queries in fp8:
/// each run() first widens them into the workspace, which that type does exactly, and the scale of
/// the tensor joins the scale of q.k. Scales of heads, requests and tokens are multiplied in, which
/// is exact for scales of four significant bits, as a fixture's are; others would be rounded.
[[nodiscard]] std::unique_ptr<Backend> with_upcast_fp8_queries(std::unique_ptr<Backend> kernels,
                                                               EnqueueUpcast widen);

}  // namespace attnbench
