// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "lib/device/device.h"

namespace attnbench {

/// Bytes that this process may still take: what the machine has free, what each of its cgroups
/// (version 1 or 2, those above it too) leaves of its limit, and what `ulimit -v` leaves. Pages of
/// files count as free: the kernel gives them up. `root` is where /proc and /sys are found.
[[nodiscard]] std::int64_t available_memory_bytes(const std::string& root = "");

/// memset by all OpenMP threads where there is enough to do. Memory that is touched for the first
/// time then lies where the threads run, as frameworks leave tensors that they fill.
void set_bytes(std::span<std::byte> memory, std::byte value);

/// Host memory between two guard zones of 4 KiB whose pattern is checked on demand.
[[nodiscard]] std::unique_ptr<Buffer> make_guarded_buffer(std::size_t bytes, std::string_view what);

/// Words that have pages of their own. Those of fresh memory all stand for one page of zeros until
/// they are written: whoever reads them fills no cache.
class ResidentMemory {
 public:
  ResidentMemory() = default;

  /// `threads` equal parts of `part_bytes`, a multiple of kPageBytes, for a team of so many: each
  /// is given its pages by the thread of its number, and then lies in that one's own memory. Throws
  /// std::bad_alloc.
  ResidentMemory(int threads, std::size_t part_bytes);

  static constexpr std::size_t kPageBytes = 4096;

  [[nodiscard]] std::span<std::uint64_t> words() const { return {memory_.get(), words_}; }

 private:
  struct Free {
    void operator()(std::uint64_t* memory) const;
  };
  std::unique_ptr<std::uint64_t[], Free> memory_;
  std::size_t words_ = 0;
};

}  // namespace attnbench
