// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu_flash/geometry.h"
#include "backends/cpu_flash/tile_task.h"

namespace attnbench::cpu_flash {
namespace {

/// Hands out pieces of the scratch memory; with a null base it only counts.
class Carver {
 public:
  explicit Carver(std::byte* base) : base_(base) {}

  template <class T>
  T* take(std::int64_t n) {
    T* taken = base_ == nullptr ? nullptr : reinterpret_cast<T*>(base_ + used_);
    used_ += (static_cast<std::size_t>(n) * sizeof(T) + 255) / 256 * 256;
    return taken;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

Scratch carve(Carver& carver, const WorkPlan& plan, const AttentionLayer& layer,
              std::int64_t lanes) {
  const Geometry g(layer, plan.max_rows, lanes);
  Scratch s;
  s.q = carver.take<float>(g.padded_rows * g.padded_dk);
  s.out = carver.take<float>(plan.max_rows * g.out_stride);
  s.scores = carver.take<float>((g.tile_keys + kKeySlack) * g.padded_rows);
  s.k = carver.take<float>(g.tile_keys * (g.padded_dk + kRowGap));
  s.v = carver.take<float>(g.tile_keys * (g.padded_dv + kRowGap));
  s.row_pointers = carver.take<const std::byte*>(4 * (g.tile_keys + kKeySlack));
  if (layer.selection.exists()) s.keys = carver.take<std::int32_t>(plan.max_keys);
  s.rows.highest = carver.take<float>(g.padded_rows);
  s.rows.sum = carver.take<float>(g.padded_rows);
  s.rows.correction = carver.take<float>(g.padded_rows);
  s.rows.temperature = carver.take<float>(g.padded_rows);
  s.rows.slope = carver.take<float>(g.padded_rows);
  s.rows.position = carver.take<std::int32_t>(g.padded_rows);
  s.rows.key_begin = carver.take<std::int32_t>(g.padded_rows);
  s.rows.key_end = carver.take<std::int32_t>(g.padded_rows);
  s.rows.plain_end = carver.take<std::int32_t>(g.padded_rows);
  s.rows.seen = carver.take<Visibility>(g.padded_rows);
  return s;
}

}  // namespace

std::size_t scratch_bytes(const WorkPlan& plan, const AttentionLayer& layer, std::int64_t lanes) {
  Carver carver(nullptr);
  static_cast<void>(carve(carver, plan, layer, lanes));
  return carver.used();
}

Scratch scratch_at(std::byte* memory, const WorkPlan& plan, const AttentionLayer& layer,
                   std::int64_t lanes) {
  Carver carver(memory);
  return carve(carver, plan, layer, lanes);
}

}  // namespace attnbench::cpu_flash
