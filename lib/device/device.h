// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace attnbench {

enum class DeviceKind : std::uint8_t { kCpu, kCuda };

/// What a run's header and the environment record say about where it ran.
struct DeviceInfo {
  DeviceKind kind = DeviceKind::kCpu;
  std::string name;                         ///< "AMD EPYC", "NVIDIA H200"
  std::string arch;                         ///< "x86-64 avx2 fma f16c", "sm_90"
  int units = 0;                            ///< hardware threads in use, or SMs
  std::int64_t last_level_cache_bytes = 0;  ///< what a cold sample has to be flushed out of
  std::int64_t memory_bytes = 0;            ///< available to fixtures
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

 protected:
  Buffer() = default;
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

  /// Pushes earlier data out of the last-level cache by *reading* a buffer of twice its size,
  /// written once: lines left by a write would be written back inside the next sample
  /// (measuring.md 6.2).
  virtual void flush_cache(Stream& stream) = 0;

 protected:
  Device() = default;
};

/// The host processor. `threads` 0 takes every hardware thread this process may use.
[[nodiscard]] std::unique_ptr<Device> make_cpu_device(int threads = 0);

}  // namespace attnbench
