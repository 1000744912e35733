// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "lib/base/int_math.h"

// A plan has one block of device memory, with arrays one after another: a DeviceRoom says where,
// and an Upload brings the host's, which are the first or stand side by side.
namespace attnbench {

/// Arrays begin at multiples of this many bytes.
inline constexpr std::int64_t kArrayAlignment = 256;

/// Where an array of values of type T begins in a plan's block of memory.
template <class T>
struct ArrayPlace {
  std::size_t offset = 0;

  [[nodiscard]] T* in(std::byte* block) const { return reinterpret_cast<T*>(block + offset); }
};

/// Room for arrays one after another.
class DeviceRoom {
 public:
  /// Adds room for `count` values.
  template <class T>
  ArrayPlace<T> add(std::int64_t count) {
    const ArrayPlace<T> place{static_cast<std::size_t>(bytes_)};
    bytes_ += round_up(count * static_cast<std::int64_t>(sizeof(T)), kArrayAlignment);
    return place;
  }
  [[nodiscard]] std::size_t bytes() const { return static_cast<std::size_t>(bytes_); }

 private:
  std::int64_t bytes_ = 0;
};

/// Host copies of arrays, placed as by a DeviceRoom.
class Upload {
 public:
  template <class T>
  void add(const std::vector<T>& values) {
    const std::size_t at = bytes_.size(), size = values.size() * sizeof(T);
    bytes_.resize(
        at + static_cast<std::size_t>(round_up(static_cast<std::int64_t>(size), kArrayAlignment)));
    if (size > 0) std::memcpy(bytes_.data() + at, values.data(), size);
  }
  [[nodiscard]] const std::vector<std::byte>& bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace attnbench
