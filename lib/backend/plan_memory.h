// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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
  /// At least `bytes` for the index arrays of a format, kept as long and as the workspace is.
  [[nodiscard]] std::byte* reserve_indices(std::string_view format, std::size_t bytes);
  /// Memory of its own for a part of the plan, kept as long as this one, of which it is a part.
  [[nodiscard]] PlanMemory& part(std::size_t index);
  /// Where the memory is, and where the plan will run.
  [[nodiscard]] Device& device() const { return *device_; }
  [[nodiscard]] bool guards_intact() const;
  void restore_guards();
  /// The workspace, without that of parts; an address of the device. Empty before.
  [[nodiscard]] std::span<const std::byte> memory() const {
    return buffer_ ? std::span<const std::byte>(buffer_->data(), buffer_->size())
                   : std::span<const std::byte>();
  }

  /// Bytes of the workspace and of those of parts, without index arrays; 0 where nothing was
  /// reserved.
  [[nodiscard]] std::int64_t workspace_bytes() const;
  /// All that was reserved, in parts, too: workspaces and the index arrays of all formats.
  [[nodiscard]] std::vector<std::span<const std::byte>> all_memory() const;

 private:
  Device* device_;
  std::unique_ptr<Buffer> buffer_;
  std::map<std::string, std::unique_ptr<Buffer>> indices_;  ///< by format
  std::vector<std::unique_ptr<PlanMemory>> parts_;
};

}  // namespace attnbench
