// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "lib/batch/device_batch.h"

namespace attnbench {

// Index arrays built on the GPU from the batch's tensors there, in FlashInfer's three steps:
// lengths, their exclusive sum, a scatter from req_to_token (SGLang's
// create_flashinfer_kv_indices_triton). Entry for entry what the host's builders give. Each
// enqueues its kernels and returns; nothing is allocated, so a graph may record them.

/// Where a CSR index goes; room for all pages of the batch.
struct CudaCsrIndices {
  std::int32_t* kv_indptr = nullptr;         ///< [B + 1]
  std::int32_t* kv_indices = nullptr;        ///< [kv_indptr[B]]
  std::int32_t* kv_last_page_len = nullptr;  ///< [B]
};

/// build_csr(batch, page_size).
void enqueue_csr(const DeviceBatch& batch, std::int64_t batch_size, std::int64_t page_size,
                 const CudaCsrIndices& to, cudaStream_t stream);

/// build_page_table(): also block tables, which differ in width at most.
/// `page_table` is [B, width]; entries behind a request's pages become `pad`. The pages of its
/// compressed rows of `compress_ratio` tokens, if there are any, follow those of its tokens.
void enqueue_page_table(const DeviceBatch& batch, std::int64_t batch_size, std::int64_t page_size,
                        std::int64_t width, std::int32_t pad, std::int32_t* page_table,
                        cudaStream_t stream, std::int64_t compress_ratio = 0);

}  // namespace attnbench
