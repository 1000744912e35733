// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/plan_memory.h"

#include <algorithm>

namespace attnbench {
namespace {

std::byte* grown(std::unique_ptr<Buffer>& buffer, std::size_t bytes, std::string_view what,
                 Device& device) {
  if (!buffer || buffer->size() < bytes) {
    buffer.reset();  // free first: both at once may not fit
    buffer = device.allocate(bytes, what);
  }
  return buffer->data();
}

}  // namespace

std::byte* PlanMemory::reserve(std::size_t bytes) {
  return grown(buffer_, bytes, "workspace", *device_);
}

std::byte* PlanMemory::reserve_indices(std::string_view format, std::size_t bytes) {
  return grown(indices_[std::string(format)], bytes, "index arrays", *device_);
}

PlanMemory& PlanMemory::part(std::size_t index) {
  while (parts_.size() <= index) parts_.push_back(std::make_unique<PlanMemory>(*device_));
  return *parts_[index];
}

bool PlanMemory::guards_intact() const {
  return (!buffer_ || buffer_->guards_intact()) &&
         std::ranges::all_of(indices_,
                             [](const auto& each) { return each.second->guards_intact(); }) &&
         std::ranges::all_of(parts_, [](const auto& part) { return part->guards_intact(); });
}

void PlanMemory::restore_guards() {
  if (buffer_) buffer_->restore_guards();
  for (const auto& each : indices_) each.second->restore_guards();
  for (const auto& part : parts_) part->restore_guards();
}

std::int64_t PlanMemory::workspace_bytes() const {
  auto bytes = static_cast<std::int64_t>(memory().size());
  for (const auto& part : parts_) bytes += part->workspace_bytes();
  return bytes;
}

std::vector<std::span<const std::byte>> PlanMemory::all_memory() const {
  std::vector<std::span<const std::byte>> all{memory()};
  for (const auto& [format, buffer] : indices_) all.emplace_back(buffer->data(), buffer->size());
  for (const auto& part : parts_) {
    for (const std::span<const std::byte> each : part->all_memory()) all.push_back(each);
  }
  return all;
}

}  // namespace attnbench
