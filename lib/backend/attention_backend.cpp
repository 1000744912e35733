// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/attention_backend.h"

#include "lib/base/error.h"

namespace attnbench {
namespace {

[[noreturn]] void refuse_graphs(const AttentionBackend& backend) {
  throw InternalError(backend.info().name + " has no CUDA graphs (info().cuda_graph)");
}

}  // namespace

std::byte* Workspace::reserve(std::size_t bytes) {
  if (!buffer_ || buffer_->size() < bytes) {
    buffer_.reset();  // free first: two workspaces at once may not fit
    buffer_ = device_->allocate(bytes, "workspace");
  }
  return buffer_->data();
}

void AttentionBackend::forward(const AttentionIo& io, Stream& stream) {
  switch (io.batch->forward_mode) {
    case ForwardMode::kIdle:
      return;
    case ForwardMode::kDecode:
      forward_decode(io, stream);
      return;
    case ForwardMode::kExtend:
    case ForwardMode::kMixed:
    case ForwardMode::kTargetVerify:
    case ForwardMode::kDraftExtend:
      forward_extend(io, stream);
      return;
  }
}

void AttentionBackend::init_cuda_graph_state(int, int) { refuse_graphs(*this); }

void AttentionBackend::init_forward_metadata_capture_cuda_graph(const ForwardBatch&,
                                                                const AttentionLayer&, Workspace&) {
  refuse_graphs(*this);
}

void AttentionBackend::init_forward_metadata_replay_cuda_graph(const ForwardBatch&,
                                                               const AttentionLayer&, Stream&) {
  refuse_graphs(*this);
}

}  // namespace attnbench
