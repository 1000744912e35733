// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "lib/device/device.h"

namespace attnbench {

/// Scratch memory of one plan at a time. It grows while planning, keeps its address between a plan
/// and its runs, and is kept for the next plan, as an engine keeps its workspace.
class PlanMemory {
 public:
  explicit PlanMemory(Device& device) : device_(&device) {}

  /// At least `bytes` of device memory, 256-byte aligned, filled with 0xFF when it is new. Called
  /// while planning only. What an earlier call in this memory returned is no longer valid.
  [[nodiscard]] std::byte* reserve(std::size_t bytes);
  /// Where the memory is, and where the plan will run.
  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] bool guards_intact() const { return !buffer_ || buffer_->guards_intact(); }
  /// What was reserved; addresses of the device. Empty before.
  [[nodiscard]] std::span<const std::byte> memory() const {
    return buffer_ ? std::span<const std::byte>(buffer_->data(), buffer_->size())
                   : std::span<const std::byte>();
  }

 private:
  Device* device_;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace attnbench
