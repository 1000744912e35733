// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/backend/attention_backend.h"

namespace attnbench {

/// What can be wrong with an attention kernel. Each one happened to somebody.
enum class Fault : std::uint8_t {
  kNone,
  kDropsLastToken,
  kDropsFirstToken,
  kSkipsAPage,
  kReadsAPageTwice,
  kSwapsTwoPages,
  kHeadMapOffByOne,
  kForgetsScale,
  kCausalSeesNextKey,
  kCausalMissesOwnKey,
  kIgnoresTree,
  kIgnoresWindow,
  kWindowOffByOne,
  kIgnoresSoftcap,
  kNoMaximum,
  kMaximumStartsAtZero,
  kLseBaseTwo,
  kLseForgetsSink,
  kSinkCountedTwice,
  kMergesWithoutRescale,
  kForgetsVScale,
  kAccumulatesInBf16,
  kReadsTail,
  kWritesBeyond,
  kLeavesLastRow,
  kWritesInput,
  kDiffersBetweenRuns,
  kThrows,
};

[[nodiscard]] std::string_view to_string(Fault fault);
[[nodiscard]] std::vector<Fault> all_faults();  ///< without kNone

/// A correct backend, simple on purpose, with one fault put in: shows that the checks can fail. It
/// shares no code with any other backend and computes in f32: tiles of keys, online softmax.
class MutantBackend final : public AttentionBackend {
 public:
  explicit MutantBackend(Fault fault);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case&, const Device&) const override {
    return Support::yes();
  }
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override;
  void forward_extend(const AttentionIo& io, Stream& stream) override;

 private:
  struct Row {  ///< one query token under one head
    std::int64_t request;
    std::int64_t query;  ///< within the request
    std::int64_t token;  ///< within the batch
    int head;
  };
  [[nodiscard]] bool has(Fault fault) const { return fault_ == fault; }
  [[nodiscard]] bool sees(const AttentionIo& io, const Row& row, std::int64_t key) const;
  /// KV slots that the row attends to, with the key's position.
  [[nodiscard]] std::vector<std::pair<std::int64_t, std::int64_t>> slots_of(const AttentionIo& io,
                                                                            const Row& row) const;
  [[nodiscard]] float logit(const AttentionIo& io, const Row& row, std::int64_t slot,
                            std::int64_t key) const;
  void compute(const AttentionIo& io, const Row& row) const;

  Fault fault_;
  BackendInfo info_;
  int runs_ = 0;
};

}  // namespace attnbench
