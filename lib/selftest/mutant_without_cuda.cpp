// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "lib/base/error.h"
#include "lib/selftest/mutant_step.h"
#include "lib/selftest/timed_mutant.h"

namespace attnbench {

void enqueue_copy(Stream&, std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}

bool is_capturing(Stream&) { return false; }

void reserve_cache() {}

bool has_cache_reservation() { return false; }

void enqueue_step(const MutantStep&, std::byte*, Stream&) {
  throw InternalError("built without CUDA");
}

void launch_mutant(const MutantStep&, const std::byte*, Stream&) {
  throw InternalError("built without CUDA");
}

}  // namespace attnbench
