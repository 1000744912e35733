// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lib/fixture/sample_io.h"

namespace attnbench {

/// The inputs and outputs of all parts of a composed step as those of one sample: each part takes
/// the contents of the same number, and what is collected is the parts' rows one behind the other.
class JointSampleIo final : public SampleIo {
 public:
  /// They outlive it and have one set each.
  explicit JointSampleIo(std::vector<SampleIo*> parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::int64_t sets() const override { return 1; }
  void poison_outputs(Stream& stream) override;
  void rewrite_keys(std::int64_t first_number, Stream& stream) override;
  [[nodiscard]] std::int64_t stage(std::int64_t first_number, std::int64_t samples,
                                   Stream& stream) override;
  void write(std::int64_t first_number, Stream& stream) override;
  void collect(std::int64_t set, std::int64_t first_number, Stream& stream) override;
  [[nodiscard]] std::span<const std::byte> collected() const override;
  [[nodiscard]] std::vector<Unwritten> unwritten() const override;

 private:
  std::vector<SampleIo*> parts_;
  mutable std::vector<std::byte> collected_;  ///< of all parts, once it was asked for
};

}  // namespace attnbench
