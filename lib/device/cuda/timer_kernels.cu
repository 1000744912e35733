// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cuda/timer_kernels.cuh"

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "lib/device/cuda/check.cuh"
#include "lib/device/cuda/whole_multiprocessor.cuh"

namespace attnbench {
namespace {

/// Nanoseconds, the same for all SMs; its step is 32 ns to 1 us, by the GPU.
__device__ std::uint64_t global_timer_ns() {
  std::uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

__global__ void spin(std::uint64_t ns) {
  const std::uint64_t begin = global_timer_ns();
  while (global_timer_ns() - begin < ns) {
  }
}

}  // namespace

void enqueue_spin(Stream& stream, std::uint64_t ns) {
  spin<<<1, 1, 0, static_cast<cudaStream_t>(stream.native())>>>(ns);
  check_launch("spin");
}

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

namespace {

/// An interval of this many timer steps gives the clock to half a percent.
constexpr std::uint64_t kStepsToTell = 200;

__global__ void stamp(ClockStamps::Stamp* stamps, std::uint32_t sms) {
  std::uint32_t sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  // Two blocks on one SM overwrite each other's stamp; either stamp is valid.
  if (sm < sms) stamps[sm] = {global_timer_ns(), static_cast<std::uint64_t>(clock64())};
}

__global__ void find_timer_step(std::uint64_t* step_ns) {
  std::uint64_t smallest = ~0ull;
  std::uint64_t last = global_timer_ns();
  for (int steps = 0; steps < 32;) {
    const std::uint64_t now = global_timer_ns();
    if (now == last) continue;
    smallest = now - last < smallest ? now - last : smallest;
    last = now;
    ++steps;
  }
  *step_ns = smallest;
}

std::uint64_t timer_step_ns() {
  const StreamHandle stream = make_stream_handle();
  const PinnedArray<std::uint64_t> step = make_pinned_array<std::uint64_t>(1);
  find_timer_step<<<1, 1, 0, stream.get()>>>(step.get());
  check_launch("find_timer_step");
  check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
  return step[0];
}

}  // namespace

ClockStamps::ClockStamps(int sms)
    : sms_(sms),
      shared_bytes_(shared_bytes_of_multiprocessor()),
      begin_(make_pinned_array<Stamp>(static_cast<std::size_t>(sms))),
      end_(make_pinned_array<Stamp>(static_cast<std::size_t>(sms))),
      step_ns_(attnbench::timer_step_ns()) {
  take_whole_multiprocessors(reinterpret_cast<const void*>(stamp));
  // Loads the kernel's module now: behind a held stream it would wait for the release.
  const StreamHandle stream = make_stream_handle();
  enqueue_begin(stream.get());
  enqueue_end(stream.get());
  check_cuda(cudaStreamSynchronize(stream.get()), "cudaStreamSynchronize");
  static_cast<void>(mhz());
}

void ClockStamps::enqueue(Stamp* stamps, std::size_t shared_bytes, cudaStream_t stream) const {
  stamp<<<static_cast<unsigned>(sms_), 1, shared_bytes, stream>>>(stamps,
                                                                  static_cast<std::uint32_t>(sms_));
  check_launch("stamp");
}

std::uint64_t ClockStamps::last_begin_ns() const {
  std::uint64_t last = 0;
  for (int i = 0; i < sms_; ++i) last = std::max(last, begin_[static_cast<std::size_t>(i)].ns);
  return last;
}

double ClockStamps::mhz() {
  double sum = 0;
  int stamped = 0;
  for (int i = 0; i < sms_; ++i) {
    const auto sm = static_cast<std::size_t>(i);
    const Stamp begin = begin_[sm];
    const Stamp end = end_[sm];
    begin_[sm] = end_[sm] = {};
    if (begin.ns == 0 || end.ns < begin.ns + kStepsToTell * step_ns_) continue;
    sum += static_cast<double>(end.cycles - begin.cycles) * 1e3 /
           static_cast<double>(end.ns - begin.ns);
    ++stamped;
  }
  return stamped > 0 ? sum / stamped : 0;
}

}  // namespace attnbench
