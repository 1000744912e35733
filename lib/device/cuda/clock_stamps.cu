// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "lib/device/cuda/clock_stamps.cuh"
#include "lib/device/cuda/global_timer.cuh"
#include "lib/device/cuda/whole_multiprocessor.cuh"

namespace attnbench {
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
