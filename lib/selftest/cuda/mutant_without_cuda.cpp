// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/error.h"
#include "lib/selftest/mutant_step.h"

namespace attnbench {

void enqueue_step(const MutantStep&, std::byte*, Stream&) {
  throw InternalError("built without CUDA");
}

void launch_mutant(const MutantStep&, const std::byte*, Stream&) {
  throw InternalError("built without CUDA");
}

}  // namespace attnbench
