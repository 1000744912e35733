// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lib/device/cpu/cpu_info.h"
#include "lib/device/gpu_state.h"

namespace attnbench {

enum class DeviceKind : std::uint8_t { kCpu, kCuda };

/// "cpu" or "cuda"; "?" of a value that is neither.
[[nodiscard]] constexpr std::string_view to_string(DeviceKind kind) {
  if (kind == DeviceKind::kCpu) return "cpu";
  return kind == DeviceKind::kCuda ? "cuda" : "?";
}

/// The device as a run's header and the environment record describe it.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCpu;
  std::string name;                         ///< "AMD EPYC", "NVIDIA H200"
  std::string arch;                         ///< "x86-64 avx512", "sm_90"
  int units = 0;                            ///< hardware threads in use, or SMs
  std::int64_t last_level_cache_bytes = 0;  ///< what a cold sample has to be flushed out of
  std::int64_t memory_bytes = 0;            ///< available to fixtures
  CpuTarget cpu_target{};                   ///< of a CPU: the instruction set that its kernels use
  std::string driver{};                     ///< of a GPU: "580.159.03"; empty where it is not told
  std::string cuda_version{};               ///< of the runtime that this program is built with
};

/// An ordered queue of work. On a CPU work is done when the call returns.
class Stream {
 public:
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;  // one stream, one owner
  Stream& operator=(const Stream&) = delete;

  /// Blocks until everything enqueued is done.
  virtual void synchronize() = 0;

  /// The cudaStream_t of a GPU's stream; null on a CPU.
  [[nodiscard]] virtual void* native() const noexcept { return nullptr; }

  /// Adds `graph`, a cudaGraph_t, as a child to what is being recorded on the stream: false when
  /// nothing is. Copies it; throws a runtime_error when it cannot be a child.
  [[nodiscard]] virtual bool embed(void* graph) {
    static_cast<void>(graph);
    return false;
  }

 protected:
  Stream() = default;
};

/// Memory of a device with guard bytes on both sides, freed with the object.
class Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;  // one allocation, one owner
  Buffer& operator=(const Buffer&) = delete;

  /// First usable byte, aligned to 256 bytes; an address of the device, not always of the host.
  [[nodiscard]] virtual std::byte* data() noexcept = 0;
  [[nodiscard]] virtual std::size_t size() const noexcept = 0;

  /// True while no guard byte before or after the usable range has changed.
  [[nodiscard]] virtual bool guards_intact() const = 0;
  /// Makes them what they were, so that damage which comes again is seen again.
  virtual void restore_guards() = 0;

 protected:
  Buffer() = default;
};

/// Enqueues something on the stream it is given.
using Work = std::function<void(Stream&)>;

/// Work recorded once and enqueued again with one call: a CUDA graph.
class Recording {
 public:
  virtual ~Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  virtual void replay(Stream& stream) = 0;

 protected:
  Recording() = default;
};

/// Thrown for work that waits for its own stream or allocates, because it can be neither queued
/// ahead of time nor recorded.
class HostSyncError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One timed run of a work.
struct TimedSample {
  double us = 0;          ///< on the device, from the work's first operation to its last
  double enqueue_us = 0;  ///< on the host: the call that enqueued it
  double clock_mhz = 0;   ///< of the device's units meanwhile; 0 where it was too short to tell
  /// On the device, from the moment at which it was let go until the clock started: what
  /// SampleSteps::before takes, and what it had to wait for. 0 where that is not known.
  double lead_us = 0;
  bool disturbed = false;  ///< the lead was longer than that of an idle device
};

/// A timed run and what surrounds it, in this order; each enqueues on the timer's stream and may be
/// empty, but for `work`.
struct SampleSteps {
  Work prepare;  ///< waited for before anything else is enqueued
  /// Not begun before all of `work` is enqueued, done before the clock starts: what no other stream
  /// may undo or foresee, that is the state of the cache and the sample's contents.
  Work before;
  Work work;     ///< what is timed
  Work collect;  ///< right behind the moment at which the clock stops
};

/// Times work that goes on after the call that enqueued it has returned.
class SampleTimer {
 public:
  virtual ~SampleTimer() = default;
  SampleTimer(const SampleTimer&) = delete;
  SampleTimer& operator=(const SampleTimer&) = delete;

  /// One run of steps.work. All of it is enqueued before its first operation begins, so `us`
  /// includes neither delays of the host nor the cost of the timer itself. Throws HostSyncError.
  [[nodiscard]] virtual TimedSample time(const SampleSteps& steps) = 0;
  /// The same without inputs that are written for this sample.
  [[nodiscard]] TimedSample time(const Work& prepare, const Work& work) {
    return time(SampleSteps{prepare, {}, work, {}});
  }

  /// TimedSample::lead_us of samples that do no work: their median. 0 where it is not known.
  [[nodiscard]] virtual double idle_lead_us(const SampleSteps& steps) = 0;

  /// Repeats both for `seconds`; mean clock of the device's units meanwhile, 0 when unknown.
  [[nodiscard]] virtual double clock_mhz_over(double seconds, const Work& prepare,
                                              const Work& work) = 0;

 protected:
  SampleTimer() = default;
};

/// A place where backends run.
class Device {
 public:
  virtual ~Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] virtual const DeviceInfo& info() const noexcept = 0;

  /// `bytes` of memory, every byte 0xFF (NaN in each float type), between guards.
  /// Throws EnvironmentError with both figures when the device has less than that available.
  [[nodiscard]] virtual std::unique_ptr<Buffer> allocate(std::size_t bytes,
                                                         std::string_view what) = 0;

  [[nodiscard]] virtual std::unique_ptr<Stream> make_stream() = 0;

  /// Copies between host memory and this device's, done on return.
  virtual void copy_to_host(void* to, const std::byte* from, std::size_t bytes) = 0;
  virtual void copy_from_host(std::byte* to, const void* from, std::size_t bytes) = 0;
  /// The same in the stream's order, without waiting for it: `from` may change when the call
  /// returns. Where streams do not wait, it is done on return.
  virtual void enqueue_copy_from_host(Stream&, std::byte* to, const void* from, std::size_t bytes) {
    copy_from_host(to, from, bytes);
  }

  /// Pushes earlier data out of the last-level cache by *reading* a buffer of twice its size,
  /// written once: lines left by a write would be written back inside the next sample
  /// (results/h200/timing.md, E1).
  virtual void flush_cache(Stream& stream) = 0;

  /// Reads these parts of the device's memory, so that they lie in the last-level cache (as far as
  /// they fit, the last of them last).
  virtual void touch(Stream& stream, std::span<const std::span<const std::byte>> parts) = 0;

  /// Waits for all that this process has enqueued on any stream.
  virtual void wait_until_idle() {}

  /// Ends reservations of the last-level cache that earlier work has made: reserved lines would
  /// survive a flush. Waits for nothing.
  virtual void release_cache_reservations() {}

  /// At this moment; none where the device cannot tell.
  [[nodiscard]] virtual ClockEvents clock_events() const { return {}; }

  /// That have a context on the device, about now; none where it cannot tell.
  [[nodiscard]] virtual std::vector<GpuProcess> processes() { return {}; }

  /// A timer of work on `stream`, which must outlive it. Null where work is done when its call
  /// returns: a host clock times it.
  [[nodiscard]] virtual std::unique_ptr<SampleTimer> make_timer(Stream&) { return nullptr; }

  /// Records what `work` enqueues, without running it. Null where nothing can be recorded. Throws
  /// what `work` throws, and HostSyncError when it did what cannot be recorded.
  [[nodiscard]] virtual std::unique_ptr<Recording> record(Stream&, const Work&) { return nullptr; }

  /// Clock that the latest preheat of a cell ended with, of whichever case; 0 before the first.
  double settled_mhz = 0;

 protected:
  Device() = default;
};

/// The host processor. `threads` 0 takes every hardware thread this process may use. Kernels use
/// the instructions of `target`, which the processor has.
[[nodiscard]] std::unique_ptr<Device> make_cpu_device(int threads = 0,
                                                      CpuTarget target = best_cpu_target());

}  // namespace attnbench
