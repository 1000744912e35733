// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/pool_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/batch/index_write.h"

namespace attnbench {
namespace {

constexpr std::size_t kDims = IndexerInputs::kDim;
constexpr int kGates = 64, kPositions = 32, kSteps = 16;  // -2 to 2 and -1 to 1, by 1/16

/// exp(z / kSteps) for z from -kMostZ to kMostZ.
constexpr int kMostZ = (kGates + kPositions) / 2;
double exp_of(int z) {
  static const std::array<double, 2 * kMostZ + 1> kTable = [] {
    std::array<double, 2 * kMostZ + 1> table{};
    for (int i = -kMostZ; i <= kMostZ; ++i) {
      table[to_size(i + kMostZ)] = std::exp(static_cast<double>(i) / kSteps);
    }
    return table;
  }();
  return kTable[to_size(z + kMostZ)];
}

/// An element of a key and of its gate.
struct Element {
  float k = 0;
  int gate = 0;  ///< in steps
};

/// As often as `attempt` says drawn anew, further and further away where that has not helped.
Element drawn_element(std::uint64_t key, std::size_t dim, float like, int attempt = 0) {
  const std::uint64_t of_attempt =
      attempt == 0 ? key : combine(key, static_cast<std::uint64_t>(attempt));
  const std::uint32_t bits = element_bits(of_attempt, static_cast<std::uint32_t>(dim));
  const int gate = static_cast<int>(bits % kGates) - kGates / 2;
  const int parts = static_cast<int>(bits >> 8 & 0xffu) - 64;  // -1 to 3 times `like`, by 1/64
  if (like == 0) return {0, gate};                             // of one sign
  const float factor = std::ldexp(static_cast<float>(parts), attempt / 8 - 6);
  return {bf16_value(bf16_bits(like * factor)), gate};
}

std::uint64_t key_of_position(const Case& c, std::int64_t i) {
  return row_key(c.seed, Role::kIndexKey, 0, i, 3);
}
int position_step(std::uint64_t key, std::size_t dim) {
  return static_cast<int>(element_bits(key, static_cast<std::uint32_t>(dim)) % kPositions) -
         kPositions / 2;
}

/// The softmax of a pool's elements of one dim, so far.
struct Sum {
  double weights = 0, keys = 0, sizes = 0;

  void add(const Element& element, int position) {
    const double weight = exp_of(element.gate + position), k = static_cast<double>(element.k);
    weights += weight;
    keys += weight * k;
    sizes += weight * std::abs(k);
  }
  [[nodiscard]] double mean() const { return keys / weights; }
  /// How far kernels may be off.
  [[nodiscard]] double bound() const {
    return std::ldexp(std::abs(mean()), -7) + std::ldexp(sizes / weights, -16);
  }
};

/// Whether numbers within the bound of the mean have several nearest numbers of e4m3.
bool is_between_codes(const Sum& sum, double scale) {
  constexpr int kLargest = 0x7e;
  if (sum.sizes == 0) return false;
  const double size = std::abs(sum.mean()) / scale, bound = sum.bound() / scale;
  const int code = e4m3_bits(static_cast<float>(size));
  const auto value = [](int of) {
    return static_cast<double>(e4m3_value(static_cast<std::uint8_t>(of)));
  };
  const double least = code == 0 ? 0 : (value(code - 1) + value(code)) / 2;
  if (size - least < bound) return true;
  return code < kLargest && (value(code) + value(code + 1)) / 2 - size < bound;
}

float scale_of(const Sum& peak) {
  return index_key_scale(static_cast<float>(std::abs(peak.mean())));
}

/// The same of the scale.
bool is_between_scales(const Sum& peak) {
  const double size = std::abs(peak.mean());
  return index_key_scale(static_cast<float>(size - peak.bound())) !=
         index_key_scale(static_cast<float>(size + peak.bound()));
}

/// A pool, and of its last key what was drawn until its row is the same of all kernels.
class SettledPool {
 public:
  SettledPool(const Contents& contents, std::int64_t request, std::int64_t row);

  [[nodiscard]] PoolKey last() const;
  [[nodiscard]] IndexKey row() const;

 private:
  void draw(std::size_t dim) {
    last_[dim] = drawn_element(key_, dim, like_[dim], attempts_[dim]);
    sums_[dim] = before_[dim];
    sums_[dim].add(last_[dim], position_step(position_, dim));
  }
  void draw_again(std::size_t dim) {
    constexpr int kMost = 500;
    ++attempts_[dim];
    expects(attempts_[dim] < kMost, "a pool whose row lies between two numbers");
    draw(dim);
  }
  [[nodiscard]] std::size_t peak() const {
    const auto size = [](const Sum& sum) { return std::abs(sum.mean()); };
    return to_size(std::ranges::max_element(sums_, {}, size) - sums_.begin());
  }

  std::uint64_t key_ = 0, position_ = 0;
  std::array<float, kDims> like_{};
  std::array<Sum, kDims> before_{}, sums_{};
  std::array<Element, kDims> last_{};
  std::array<int, kDims> attempts_{};
};

/// Whose keys and gates a timed sample has for itself.
bool is_changed(const Contents& contents, std::int64_t request, std::int64_t position) {
  const Case& c = contents.of_case();
  const Request& of = c.requests[to_size(request)];
  return position >= of.kv_len - of.new_keys() &&
         position / c.layer.selection.pool() == changed_key(contents, request);
}

std::uint64_t key_of_token(const Contents& contents, std::int64_t request, std::int64_t position) {
  const std::uint64_t seed =
      is_changed(contents, request, position) ? contents.secret() : contents.params().seed;
  return row_key(seed, Role::kIndexKey, contents.own_stream(request), position, 1);
}

/// What the keys of a pool scatter about.
std::array<float, kDims> like_of_pool(const Contents& contents, std::int64_t request,
                                      std::int64_t row) {
  const IndexKey like = drawn_written_row(
      row_key(contents.params().seed, Role::kIndexKey, contents.own_stream(request), row, 2),
      contents.fill());
  std::array<float, kDims> numbers{};
  std::ranges::transform(like.row, numbers.begin(),
                         [&](std::uint8_t code) { return e4m3_value(code) * like.scale; });
  return numbers;
}

SettledPool::SettledPool(const Contents& contents, std::int64_t request, std::int64_t row)
    : like_(like_of_pool(contents, request, row)) {
  const Case& c = contents.of_case();
  const std::int64_t keys = c.layer.selection.pool(), first = row * keys;
  for (std::int64_t i = 0; i + 1 < keys; ++i) {
    const std::uint64_t key = key_of_token(contents, request, first + i);
    const std::uint64_t position = key_of_position(c, i);
    for (std::size_t dim = 0; dim < kDims; ++dim) {
      before_[dim].add(drawn_element(key, dim, like_[dim]), position_step(position, dim));
    }
  }
  key_ = key_of_token(contents, request, first + keys - 1);
  position_ = key_of_position(c, keys - 1);
  for (std::size_t dim = 0; dim < kDims; ++dim) draw(dim);
  for (;;) {
    const std::size_t largest = peak();
    if (is_between_scales(sums_[largest])) {
      draw_again(largest);
      continue;
    }
    const float scale = scale_of(sums_[largest]);
    for (std::size_t dim = 0; dim < kDims; ++dim) {
      while (is_between_codes(sums_[dim], static_cast<double>(scale))) draw_again(dim);
    }
    // What was drawn again may be larger, or what was the largest.
    if (const Sum& now = sums_[peak()]; scale_of(now) == scale && !is_between_scales(now)) return;
  }
}

PoolKey as_numbers(const std::array<Element, kDims>& elements) {
  PoolKey made;
  for (std::size_t dim = 0; dim < kDims; ++dim) {
    made.k[dim] = elements[dim].k;
    made.gate[dim] = static_cast<float>(elements[dim].gate) / kSteps;
  }
  return made;
}

PoolKey SettledPool::last() const { return as_numbers(last_); }

IndexKey SettledPool::row() const {
  IndexKey made;
  made.scale = scale_of(sums_[peak()]);
  for (std::size_t dim = 0; dim < kDims; ++dim) {
    made.row[dim] = e4m3_bits(static_cast<float>(sums_[dim].mean()) / made.scale);
  }
  return made;
}

}  // namespace

PoolKey pool_key(const Contents& contents, std::int64_t request, std::int64_t position) {
  const std::int64_t keys = contents.of_case().layer.selection.pool(), row = position / keys;
  if (position % keys == keys - 1) return SettledPool(contents, request, row).last();
  const std::array<float, kDims> like = like_of_pool(contents, request, row);
  const std::uint64_t key = key_of_token(contents, request, position);
  std::array<Element, kDims> elements;
  for (std::size_t dim = 0; dim < kDims; ++dim) {
    elements[dim] = drawn_element(key, dim, like[dim]);
  }
  return as_numbers(elements);
}

std::array<float, kDims> pool_ape(const Case& c, std::int64_t i) {
  const std::uint64_t key = key_of_position(c, i);
  std::array<float, kDims> numbers{};
  for (std::size_t dim = 0; dim < kDims; ++dim) {
    numbers[dim] = static_cast<float>(position_step(key, dim)) / kSteps;
  }
  return numbers;
}

IndexKey pooled_index_key(const Contents& contents, std::int64_t request, std::int64_t row) {
  return SettledPool(contents, request, row).row();
}

}  // namespace attnbench
