// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/contents/pool_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "lib/base/counter_hash.h"
#include "lib/base/dtype.h"
#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/batch/index_write.h"
#include "lib/batch/pool_shape.h"
#include "lib/contents/pool_shape.h"

namespace attnbench {
namespace {

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
Element drawn_element(std::uint64_t key, std::size_t column, float like, DType dtype,
                      int attempt = 0) {
  const std::uint64_t of_attempt =
      attempt == 0 ? key : combine(key, static_cast<std::uint64_t>(attempt));
  const std::uint32_t bits = element_bits(of_attempt, static_cast<std::uint32_t>(column));
  const int gate = static_cast<int>(bits % kGates) - kGates / 2;
  const int parts = static_cast<int>(bits >> 8) - (1 << 22);  // -1 to 3 times `like`, by 2^-22
  if (like == 0) return {0, gate};                            // of one sign
  const float factor = std::ldexp(static_cast<float>(parts), attempt / 4 - 22);
  return {rounded(dtype, like * factor), gate};
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
  /// How far kernels may be off that round in f32, and in bf16 on the way to e4m3.
  [[nodiscard]] double bound(DType row) const {
    const double on_the_way = row == DType::kE4M3 ? std::ldexp(std::abs(mean()), -7) : 0;
    return on_the_way + std::ldexp(sizes / weights, -16);
  }
};

/// Whether numbers within the bound of the mean are rounded to several ones.
bool is_between(const Sum& sum, DType row, float scale) {
  const double bound = sum.bound(row), mean = sum.mean();
  const auto stored = [&](double number) {
    return storage_bits(row, static_cast<float>(number) / scale);
  };
  return sum.sizes > 0 && stored(mean - bound) != stored(mean + bound);
}

float scale_of(const Sum& peak) {
  return index_key_scale(static_cast<float>(std::abs(peak.mean())));
}

/// The same of the scale.
bool is_between_scales(const Sum& peak) {
  const double size = std::abs(peak.mean()), bound = peak.bound(DType::kE4M3);
  return index_key_scale(static_cast<float>(size - bound)) !=
         index_key_scale(static_cast<float>(size + bound));
}

/// A pool, and of its last key the half that is its own, drawn until all kernels make one row.
class SettledPool {
 public:
  SettledPool(const Contents& contents, std::int64_t request, std::int64_t row);

  void put_last(PoolKey& key) const;
  [[nodiscard]] IndexKey in_e4m3() const;
  [[nodiscard]] std::vector<float> in_bf16() const;

 private:
  void add_half(const Contents& contents, std::int64_t request, std::int64_t pool,
                std::int64_t keys, std::int64_t half);
  void settle();
  void draw(std::size_t dim) {
    const std::size_t column = own_ + dim;
    last_[dim] = drawn_element(key_, column, like_[dim], shape_.dtype, attempts_[dim]);
    sums_[dim] = before_[dim];
    sums_[dim].add(last_[dim], position_step(position_, column));
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
  [[nodiscard]] float scale() const {
    return shape_.row == DType::kE4M3 ? scale_of(sums_[peak()]) : 1.0f;
  }

  PoolShape shape_;
  std::size_t dims_, own_;                ///< columns, and the first of those of the pool itself
  std::uint64_t key_ = 0, position_ = 0;  ///< of its last key
  std::vector<float> like_;               ///< what those of its last key scatter about
  std::vector<Sum> before_, sums_;
  std::vector<Element> last_;
  std::vector<int> attempts_;
};

/// Whose keys and gates a timed sample has for itself, drawn anew.
bool is_changed(const Contents& contents, std::int64_t request, std::int64_t position) {
  const Case& c = contents.of_case();
  const Request& of = c.requests[to_size(request)];
  return position >= of.kv_len - of.new_keys() &&
         position / pool_shape(c).keys == changed_key(contents, request);
}

std::uint64_t key_of_token(const Contents& contents, std::int64_t request, std::int64_t position) {
  const std::uint64_t seed =
      is_changed(contents, request, position) ? contents.secret() : contents.params().seed;
  return row_key(seed, Role::kIndexKey, contents.own_stream(request), position, 1);
}

/// What the keys of a pool scatter about in each dim. Where pools overlap nothing is 0, so that the
/// last key can settle what the pool before brings.
std::vector<float> like_of_pool(const Contents& contents, std::int64_t request, std::int64_t row,
                                const PoolShape& shape) {
  std::vector<float> numbers;
  for (std::int64_t part = 0; std::ssize(numbers) < shape.dims; ++part) {
    const std::uint64_t key = row_key(contents.params().seed, Role::kIndexKey,
                                      contents.own_stream(request), row, 2 + part);
    const IndexKey like = drawn_written_row(key, contents.fill());
    for (const std::uint8_t code : like.row) {
      const bool is_zero = e4m3_value(code) == 0;
      numbers.push_back(like.scale * e4m3_value(is_zero && shape.overlaps ? 1 : code));
    }
  }
  numbers.resize(to_size(shape.dims));
  return numbers;
}

SettledPool::SettledPool(const Contents& contents, std::int64_t request, std::int64_t row)
    : shape_(pool_shape(contents.of_case())),
      dims_(to_size(shape_.dims)),
      own_(to_size(shape_.columns()) - dims_),
      like_(like_of_pool(contents, request, row, shape_)),
      before_(dims_),
      sums_(dims_),
      last_(dims_),
      attempts_(dims_) {
  if (shape_.overlaps && row > 0) add_half(contents, request, row - 1, shape_.keys, 0);
  add_half(contents, request, row, shape_.keys - 1, shape_.halves() - 1);
  key_ = key_of_token(contents, request, (row + 1) * shape_.keys - 1);
  position_ = key_of_position(contents.of_case(), shape_.keys - 1);
  for (std::size_t dim = 0; dim < dims_; ++dim) draw(dim);
  settle();
}

/// The first `keys` keys of a pool.
void SettledPool::add_half(const Contents& contents, std::int64_t request, std::int64_t pool,
                           std::int64_t keys, std::int64_t half) {
  const std::vector<float> like = like_of_pool(contents, request, pool, shape_);
  const std::size_t first = to_size(half) * dims_;
  for (std::int64_t i = 0; i < keys; ++i) {
    const std::uint64_t key = key_of_token(contents, request, pool * shape_.keys + i);
    const std::uint64_t position = key_of_position(contents.of_case(), i);
    for (std::size_t dim = 0; dim < dims_; ++dim) {
      before_[dim].add(drawn_element(key, first + dim, like[dim], shape_.dtype),
                       position_step(position, first + dim));
    }
  }
}

void SettledPool::settle() {
  const bool has_scale = shape_.row == DType::kE4M3;
  for (;;) {
    if (const std::size_t largest = peak(); has_scale && is_between_scales(sums_[largest])) {
      draw_again(largest);
      continue;
    }
    const float before = scale();
    for (std::size_t dim = 0; dim < dims_; ++dim) {
      while (is_between(sums_[dim], shape_.row, before)) draw_again(dim);
    }
    // What was drawn again may be larger, or what was the largest.
    if (!has_scale || (scale() == before && !is_between_scales(sums_[peak()]))) return;
  }
}

void SettledPool::put_last(PoolKey& key) const {
  for (std::size_t dim = 0; dim < dims_; ++dim) {
    key.k[own_ + dim] = last_[dim].k;
    key.gate[own_ + dim] = static_cast<float>(last_[dim].gate) / kSteps;
  }
}

IndexKey SettledPool::in_e4m3() const {
  IndexKey made;
  made.scale = scale();
  for (std::size_t dim = 0; dim < dims_; ++dim) {
    made.row[dim] = e4m3_bits(static_cast<float>(sums_[dim].mean()) / made.scale);
  }
  return made;
}

std::vector<float> SettledPool::in_bf16() const {
  std::vector<float> row(dims_);
  for (std::size_t dim = 0; dim < dims_; ++dim) {
    row[dim] = bf16_value(bf16_bits(static_cast<float>(sums_[dim].mean())));
  }
  return row;
}

}  // namespace

PoolKey pool_key(const Contents& contents, std::int64_t request, std::int64_t position) {
  const PoolShape shape = pool_shape(contents.of_case());
  const std::int64_t row = position / shape.keys;
  const std::vector<float> like = like_of_pool(contents, request, row, shape);
  const std::uint64_t key = key_of_token(contents, request, position);
  const std::size_t columns = to_size(shape.columns());
  PoolKey made{std::vector<float>(columns), std::vector<float>(columns)};
  for (std::size_t column = 0; column < columns; ++column) {
    const Element element = drawn_element(key, column, like[column % like.size()], shape.dtype);
    made.k[column] = element.k;
    made.gate[column] = static_cast<float>(element.gate) / kSteps;
  }
  if (position % shape.keys == shape.keys - 1) SettledPool(contents, request, row).put_last(made);
  return made;
}

std::vector<float> pool_ape(const Case& c, std::int64_t i) {
  const std::uint64_t key = key_of_position(c, i);
  std::vector<float> numbers(to_size(pool_shape(c).columns()));
  for (std::size_t column = 0; column < numbers.size(); ++column) {
    numbers[column] = static_cast<float>(position_step(key, column)) / kSteps;
  }
  return numbers;
}

bool is_own_pool_key(const Contents& sample, std::int64_t request, std::int64_t position) {
  const PoolShape shape = pool_shape(sample.of_case());
  if (is_changed(sample, request, position)) return true;
  // The last key of the pool behind is drawn by what it has of the one before.
  return shape.overlaps && position % shape.keys == shape.keys - 1 &&
         position / shape.keys - 1 == changed_key(sample, request);
}

IndexKey pooled_index_key(const Contents& contents, std::int64_t request, std::int64_t row) {
  return SettledPool(contents, request, row).in_e4m3();
}

std::vector<float> compressed_row(const Contents& contents, std::int64_t request,
                                  std::int64_t row) {
  return SettledPool(contents, request, row).in_bf16();
}

}  // namespace attnbench
