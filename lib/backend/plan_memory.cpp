// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/backend/plan_memory.h"

namespace attnbench {

std::byte* PlanMemory::reserve(std::size_t bytes) {
  if (!buffer_ || buffer_->size() < bytes) {
    buffer_.reset();  // free first: two workspaces at once may not fit
    buffer_ = device_->allocate(bytes, "workspace");
  }
  return buffer_->data();
}

}  // namespace attnbench
