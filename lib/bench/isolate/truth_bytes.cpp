// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/bench/isolate/truth_bytes.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "lib/base/error.h"
#include "lib/bench/isolate/fields.h"

namespace attnbench {
namespace {

class Writer {
 public:
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      append(&value, sizeof value);
    } else {
      // Listed for reading and writing alike; nothing is changed here.
      visit_fields(const_cast<T&>(value), [&](auto&... members) { (put(members), ...); });
    }
  }
  template <class T>
  void put(const std::vector<T>& values) {
    put(static_cast<std::uint64_t>(values.size()));
    if constexpr (std::is_arithmetic_v<T>) {
      append(values.data(), values.size() * sizeof(T));
    } else {
      for (const T& value : values) put(value);
    }
  }

  std::vector<std::byte> bytes;

 private:
  void append(const void* from, std::size_t count) {
    const auto* const begin = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), begin, begin + count);
  }
};

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <class T>
  void get(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      take(&value, sizeof value);
    } else {
      visit_fields(value, [&](auto&... members) { (get(members), ...); });
    }
  }
  template <class T>
  void get(std::vector<T>& values) {
    std::uint64_t count = 0;
    get(count);
    expects(count <= left_.size(), "the reference of a worker is cut short");
    values.assign(count, T());
    if constexpr (std::is_arithmetic_v<T>) {
      take(values.data(), values.size() * sizeof(T));
    } else {
      for (T& value : values) get(value);
    }
  }
  [[nodiscard]] bool done() const { return left_.empty(); }

 private:
  void take(void* to, std::size_t count) {
    expects(count <= left_.size(), "the reference of a worker is cut short");
    if (count > 0) std::memcpy(to, left_.data(), count);
    left_ = left_.subspan(count);
  }

  std::span<const std::byte> left_;
};

}  // namespace

std::vector<std::byte> pack_truth(std::span<const FillTruth> truth) {
  Writer writer;
  writer.put(static_cast<std::uint64_t>(truth.size()));
  for (const FillTruth& each : truth) writer.put(each);
  return std::move(writer.bytes);
}

std::vector<FillTruth> unpack_truth(std::span<const std::byte> bytes) {
  Reader reader(bytes);
  std::vector<FillTruth> truth;
  reader.get(truth);
  expects(reader.done(), "the reference of a worker is longer than it says");
  return truth;
}

}  // namespace attnbench
