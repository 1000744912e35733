// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "backends/index_writer/index_writer.h"
#include "lib/base/dtype.h"
#include "lib/base/worth_a_team.h"
#include "lib/batch/forward_batch.h"

namespace attnbench::index_writer {
namespace {

constexpr std::int64_t kDim = IndexerInputs::kDim;
constexpr std::int64_t kNewKeyBytes = kDim * size_bytes(DType::kBF16);

/// The batch's tensors lie where the host reads them. Tokens have rows of their own.
class HostPlan final : public Plan {
 public:
  explicit HostPlan(const ForwardBatch& batch)
      : write_(batch.index_write), in_bf16_(batch.problem->layer.selection.scores_in_bf16()) {}

  void run(Stream&) override {
    const std::int64_t tokens = write_->tokens;
#pragma omp parallel for schedule(static) if (tokens * kDim > kWorthATeam)
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::int64_t slot = write_->slots[token];
      if (slot < 0) continue;
      const std::byte* const key = write_->k + token * kNewKeyBytes;
      if (in_bf16_) {
        std::memcpy(write_->cache + slot * kNewKeyBytes, key, kNewKeyBytes);
      } else {
        quantise(key, slot);
      }
    }
  }

 private:
  void quantise(const std::byte* key, std::int64_t slot) const {
    std::array<float, kDim> numbers{};
    float amax = 0;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = load(DType::kBF16, key + i * 2);
      amax = std::max(amax, std::fabs(numbers[i]));
    }
    const float scale = index_key_scale(amax);
    const std::int64_t rows = write_->page_size, row = slot % rows;
    std::byte* const page = write_->cache + slot / rows * rows * IndexerInputs::kKeyBytes;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      page[row * kDim + static_cast<std::int64_t>(i)] = std::byte{e4m3_bits(numbers[i] / scale)};
    }
    constexpr std::int64_t kScaleBytes = sizeof scale;
    std::memcpy(page + rows * kDim + row * kScaleBytes, &scale, sizeof scale);
  }

  const IndexWrite* write_;
  bool in_bf16_;
};

}  // namespace

std::unique_ptr<Plan> HostWriter::plan(const ForwardBatch& batch, PlanMemory&) {
  return std::make_unique<HostPlan>(batch);
}

}  // namespace attnbench::index_writer
