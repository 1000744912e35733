// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/base/int_math.h"

namespace attnbench {

/// Host copies of a plan's arrays, placed one after another in one block of device memory.
class Upload {
 public:
  template <class T>
  std::size_t add(const std::vector<T>& values) {
    const std::size_t at = bytes_.size();
    const std::size_t size = values.size() * sizeof(T);
    bytes_.resize(
        static_cast<std::size_t>(round_up(static_cast<std::int64_t>(at + size), kAlignment)));
    if (size > 0) std::memcpy(bytes_.data() + at, values.data(), size);
    return at;
  }
  /// Room that is not copied comes after everything that is.
  [[nodiscard]] static std::size_t aligned(std::size_t bytes) {
    return static_cast<std::size_t>(round_up(static_cast<std::int64_t>(bytes), kAlignment));
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  static constexpr std::int64_t kAlignment = 256;
  std::vector<std::byte> bytes_;
};

/// Room for arrays one after another in one block of device memory, aligned as an Upload's.
class DeviceRoom {
 public:
  /// Where `count` values of type T begin.
  template <class T>
  std::size_t add(std::int64_t count) {
    const std::size_t at = bytes_;
    bytes_ += Upload::aligned(static_cast<std::size_t>(count) * sizeof(T));
    return at;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

}  // namespace attnbench
