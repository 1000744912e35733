// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <streambuf>

#include "apps/attnbench/command.h"
#include "apps/attnbench/exit_guard.h"
#include "lib/isolate/process_family.h"

namespace attnbench {

/// For a command with plug-ins in its own process, as long as it lives: what they print goes to
/// standard error, so that results stay clean; exit() says who ended the process; and processes
/// that they have started end with it.
class InProcess {
 public:
  explicit InProcess(Console& console);
  ~InProcess();
  InProcess(const InProcess&) = delete;  // one process, one owner of its streams
  InProcess& operator=(const InProcess&) = delete;

 private:
  Console* console_;
  int standard_output_;  ///< as it was
  std::unique_ptr<std::streambuf> to_standard_output_;
  std::streambuf* replaced_ = nullptr;
  ProcessFamily family_;
  ExitGuard guard_;
};

}  // namespace attnbench
