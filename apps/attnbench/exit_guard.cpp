// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/exit_guard.h"

#include <sys/syscall.h>
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
    : older_(youngest), process_(getpid()), last_words_(std::move(last_words)) {
  renew();
  youngest = this;
}

ExitGuard::~ExitGuard() { youngest = older_; }

// What is registered last is called first.
void ExitGuard::renew() { std::atexit(leave_by_guard); }

void ExitGuard::leave_by_guard() {
  if (youngest == nullptr || youngest->process_ != getpid()) return;
  ExitGuard& guard = *youngest;
  youngest = nullptr;
  try {
    guard.last_words_();
  } catch (const std::exception&) {  // nobody is left to tell
  }
  end_process(static_cast<int>(ExitCode::kIncorrect));
}

void end_process(int code) {
  while (true) syscall(SYS_exit_group, code);
}

}  // namespace attnbench

// Takes the place of the C library's in the whole process, plug-ins included, since the program
// comes first where names are looked up. Library code that ends a process by exit() does not call
// it by name.
extern "C" void _exit(int code) {
  attnbench::ExitGuard::leave_by_guard();
  attnbench::end_process(code);
}
extern "C" void _Exit(int code) { _exit(code); }
