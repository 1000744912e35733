// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/progress_line.h"

#include <fmt/format.h>

#include <ostream>

namespace attnbench {

void ProgressLine::enter_case(const std::string& id, std::size_t index, std::size_t count) {
  lead_ = fmt::format("case {}/{} {}", index + 1, count, id);
}

void ProgressLine::show(const std::string& text, double eta_s) {
  if (!on_) return;
  const auto now = std::chrono::steady_clock::now();
  if (visible_ && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  std::string line = fmt::format("{} · {}", lead_, text);
  if (eta_s > 0) line += fmt::format(" · ETA {:.0f} s", eta_s);
  err_ << "\r\x1b[K" << line << std::flush;  // ESC [ K erases to the end of the line
  visible_ = true;
}

void ProgressLine::clear() {
  if (visible_) err_ << "\r\x1b[K" << std::flush;
  visible_ = false;
}

}  // namespace attnbench
