// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "lib/batch/forward_batch.h"

namespace attnbench {

/// The row of req_to_token that no request owns: requests there fill a batch up to a captured size.
inline constexpr std::int32_t kPaddingRow = 0;
/// What such requests have in place of a state's slot (ForwardBatch::state_indices).
inline constexpr std::int32_t kPaddingState = -1;

/// Whether request r only fills the batch up.
[[nodiscard]] bool is_padding(const ForwardBatch& batch, std::int64_t r);
/// Query tokens before those of the requests that fill the batch up.
[[nodiscard]] std::int64_t real_tokens(const ForwardBatch& batch);
/// Query tokens of all requests, those of padding included: the last entry of qo_indptr. Rows of
/// the tensors behind them belong to no request (with_padding_tokens()).
[[nodiscard]] std::int64_t tokens_of_requests(const ForwardBatch& batch);

/// `batch` with `more` requests that only fill it up, as SGLang pads a step for data-parallel
/// attention (ForwardBatch::_pad_inputs_to_size) and for a CUDA graph: pool row 0, slot 0,
/// position 0, seq_len `seq_len_fill_value`, encoder_len 0, no state. In a decode each has one
/// query token, in a target_verify draft_token_num, in steps of the extend family none. The result
/// keeps the pools, but not the DeviceBatch, which has no padding requests, and no rows that belong
/// to no request.
[[nodiscard]] ForwardBatch with_padding(const ForwardBatch& batch, std::int64_t more,
                                        std::int32_t seq_len_fill_value);

/// `batch` with `more` rows of query tokens behind those of all requests, as vLLM runs a step whose
/// num_tokens it rounds up to a captured size, and SGLang one of the extend family that it pads for
/// data-parallel attention: slot 0, position 0, and no request that has them. The result does not
/// keep the DeviceBatch.
[[nodiscard]] ForwardBatch with_padding_tokens(const ForwardBatch& batch, std::int64_t more);

/// `batch`, a decode, target_verify or idle step, with padding requests up to `batch_size`, as
/// SGLang's CudaGraphRunner::replay_prepare fills its buffers (BackendInfo::padding_seq_len).
/// A padding request's draft nodes form no tree, and their mask is empty. An idle step becomes a
/// decode of nothing but padding.
[[nodiscard]] ForwardBatch pad_for_cuda_graph(const ForwardBatch& batch, std::int64_t batch_size,
                                              std::int32_t seq_len_fill_value);

/// What an engine records a graph on, before it has any request: a step like `batch` that consists
/// of padding alone.
[[nodiscard]] ForwardBatch step_to_record(const ForwardBatch& batch, std::int64_t batch_size,
                                          std::int32_t seq_len_fill_value);

}  // namespace attnbench
