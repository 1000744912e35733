// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/exit_guard.h"

#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <utility>

#include "lib/base/exit_code.h"

namespace attnbench {
namespace {

// As with a signal's handler, an exit handler has no other place to read from.
ExitGuard* youngest = nullptr;

}  // namespace

ExitGuard::ExitGuard(std::function<void()> last_words)
    : older_(youngest), last_words_(std::move(last_words)) {
  renew();
  youngest = this;
}

ExitGuard::~ExitGuard() { youngest = older_; }

// What is registered last is called first.
void ExitGuard::renew() { std::atexit(at_exit); }

void ExitGuard::at_exit() {
  if (youngest == nullptr) return;
  ExitGuard& guard = *youngest;
  youngest = nullptr;
  try {
    guard.last_words_();
  } catch (const std::exception&) {  // nobody is left to tell
  }
  _exit(static_cast<int>(ExitCode::kIncorrect));
}

}  // namespace attnbench
