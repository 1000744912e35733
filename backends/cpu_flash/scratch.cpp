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

SoftmaxRows carve_rows(Carver& carver, std::int64_t rows) {
  SoftmaxRows of;
  of.highest = carver.take<float>(rows);
  of.sum = carver.take<float>(rows);
  of.correction = carver.take<float>(rows);
  of.temperature = carver.take<float>(rows);
  of.slope = carver.take<float>(rows);
  of.position = carver.take<std::int32_t>(rows);
  of.key_begin = carver.take<std::int32_t>(rows);
  of.key_end = carver.take<std::int32_t>(rows);
  of.plain_end = carver.take<std::int32_t>(rows);
  of.seen = carver.take<Visibility>(rows);
  return of;
}

std::vector<Scratch> carve(Carver& carver, const WorkPlan& plan, const AttentionLayer& layer,
                           std::int64_t lanes) {
  const Geometry g(layer, plan.max_rows, lanes);
  // The order counts: with q and out behind the others, prompts took 16 % longer (EPYC, Zen 4). A
  // load waits for a store that shares its low 12 address bits.
  Scratch first;
  first.q = carver.take<float>(g.padded_rows * g.padded_dk);
  first.out = carver.take<float>(plan.max_rows * g.out_stride);
  first.scores = carver.take<float>((g.tile_keys + kKeySlack) * g.padded_rows);
  first.k = carver.take<float>(g.tile_keys * (g.padded_dk + kRowGap));
  first.v = carver.take<float>(g.tile_keys * (g.padded_dv + kRowGap));
  first.row_pointers = carver.take<const std::byte*>(kPointerLists * 2 * (g.tile_keys + kKeySlack));
  if (layer.gathers_keys()) first.keys = carver.take<std::int32_t>(plan.max_keys);
  first.rows = carve_rows(carver, g.padded_rows);
  if (layer.selection.weighs_units()) {
    first.units.out = carver.take<float>(plan.max_rows * g.out_stride);
    first.units.highest = carver.take<float>(plan.max_rows);
    first.units.sum = carver.take<float>(plan.max_rows);
  }
  std::vector<Scratch> heads{first};
  while (std::ssize(heads) < plan.max_heads) {
    Scratch& s = heads.emplace_back(first);
    s.q = carver.take<float>(g.padded_rows * g.padded_dk);
    s.out = carver.take<float>(plan.max_rows * g.out_stride);
    s.rows = carve_rows(carver, g.padded_rows);
  }
  return heads;
}

}  // namespace

std::size_t scratch_bytes(const WorkPlan& plan, const AttentionLayer& layer, std::int64_t lanes) {
  Carver carver(nullptr);
  static_cast<void>(carve(carver, plan, layer, lanes));
  return carver.used();
}

std::vector<Scratch> scratch_at(std::byte* memory, const WorkPlan& plan,
                                const AttentionLayer& layer, std::int64_t lanes) {
  Carver carver(memory);
  return carve(carver, plan, layer, lanes);
}

}  // namespace attnbench::cpu_flash
