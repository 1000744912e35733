// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "lib/device/cuda/blocker.cuh"
#include "lib/device/cuda/global_timer.cuh"

namespace attnbench {
namespace {

/// Far above any queueing of launches, short enough for a person to wait for.
constexpr std::uint64_t kTimeoutNs = 5'000'000'000;

__global__ void hold_stream(const volatile std::uint32_t* released,
                            volatile std::uint32_t* timed_out, volatile std::uint64_t* ended_ns) {
  const std::uint64_t begin = global_timer_ns();
  while (*released == 0) {
    if (global_timer_ns() - begin > kTimeoutNs) {
      *timed_out = 1;
      return;
    }
  }
  *ended_ns = global_timer_ns();
}

}  // namespace

Blocker::Blocker()
    : released_(make_pinned_array<std::uint32_t>(1)),
      timed_out_(make_pinned_array<std::uint32_t>(1)),
      ended_ns_(make_pinned_array<std::uint64_t>(1)) {
  // Held once for nothing: loading the kernel's module waits for the GPU, so it must not happen
  // between the first hold and its release.
  const StreamHandle stream = make_stream_handle();
  released_[0] = 1;
  hold_stream<<<1, 1, 0, stream.get()>>>(released_.get(), timed_out_.get(), ended_ns_.get());
  check_launch("hold_stream");
  check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
}

Blocker::Hold::Hold(Blocker& blocker, cudaStream_t stream) : blocker_(&blocker) {
  std::atomic_ref<std::uint32_t>(blocker.released_[0]).store(0, std::memory_order_seq_cst);
  std::atomic_ref<std::uint32_t>(blocker.timed_out_[0]).store(0, std::memory_order_seq_cst);
  hold_stream<<<1, 1, 0, stream>>>(blocker.released_.get(), blocker.timed_out_.get(),
                                   blocker.ended_ns_.get());
  check_launch("hold_stream");
}

Blocker::Hold::~Hold() {
  std::atomic_ref<std::uint32_t>(blocker_->released_[0]).store(1, std::memory_order_seq_cst);
}

std::uint64_t Blocker::ended_ns() const {
  return std::atomic_ref<std::uint64_t>(ended_ns_[0]).load(std::memory_order_seq_cst);
}

bool Blocker::timed_out() const {
  return std::atomic_ref<std::uint32_t>(timed_out_[0]).load(std::memory_order_seq_cst) != 0;
}

}  // namespace attnbench
