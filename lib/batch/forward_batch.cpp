// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/batch/forward_batch.h"

#include "lib/base/error.h"
#include "lib/base/int_math.h"

namespace attnbench {
namespace {

template <class T>
const T& at(const std::vector<T>& values, std::int64_t index) {
  expects(index >= 0 && index < static_cast<std::int64_t>(values.size()),
          "request outside the batch");
  return values[static_cast<std::size_t>(index)];
}

}  // namespace

std::int64_t ForwardBatch::q_len(std::int64_t r) const {
  expects(r >= 0 && r < batch_size, "request outside the batch");
  switch (forward_mode) {
    case ForwardMode::kIdle:
      return 0;
    case ForwardMode::kDecode:
      return 1;
    case ForwardMode::kTargetVerify:
      expects(spec_info.has_value(), "a target_verify batch without spec_info");
      return spec_info->draft_token_num;
    case ForwardMode::kExtend:
    case ForwardMode::kMixed:
    case ForwardMode::kDraftExtend:
    case ForwardMode::kSplitPrefill:
    case ForwardMode::kDraftExtendV2:
    case ForwardMode::kDllmExtend:
      return at(extend_seq_lens, r);
  }
  throw InternalError("unknown forward mode");
}

std::int64_t ForwardBatch::kv_len(std::int64_t r) const {
  if (!encoder_lens.empty()) return at(encoder_lens, r);
  const std::int64_t counted = at(seq_lens, r);
  // The draft tokens have slots already, but are not committed.
  return forward_mode == ForwardMode::kTargetVerify ? counted + q_len(r) : counted;
}

const DeviceBatch& device_batch_of(const ForwardBatch& batch) {
  expects(batch.device_batch != nullptr, "a batch without its index tensors");
  return *batch.device_batch;
}

std::span<const std::int32_t> listed_units(const ForwardBatch& batch, std::int64_t token,
                                           std::int64_t group) {
  const ChosenKeys& chosen = *batch.chosen;
  const std::int64_t list = token * chosen.groups + group;
  return {device_batch_of(batch).topk_indices + list * chosen.width,
          to_size(chosen.lengths[to_size(list)])};
}

std::span<const float> listed_scores(const ForwardBatch& batch, std::int64_t token,
                                     std::int64_t group) {
  const ChosenKeys& chosen = *batch.chosen;
  const std::int64_t list = token * chosen.groups + group;
  return {device_batch_of(batch).topk_scores + list * chosen.width,
          to_size(chosen.lengths[to_size(list)])};
}

}  // namespace attnbench
