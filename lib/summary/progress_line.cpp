// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/progress_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ostream>

#include "lib/base/printable.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

constexpr std::size_t kFewestOfId = 8;

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

void RemainingTime::case_begins(double now_s) {
  if (begun_++ == 0) first_s_ = now_s;
  case_began_s_ = now_s;
}

double RemainingTime::seconds(double now_s, double case_s) const {
  if (begun_ == 0) return 0;
  const double over_s = case_began_s_ - first_s_;  // in cases that are over
  const auto over = static_cast<double>(begun_ - 1);
  if (case_s <= 0 && over > 0) case_s = std::max(0.0, over_s / over - (now_s - case_began_s_));
  if (case_s <= 0 && over == 0) return 0;
  const double mean_s = (now_s - first_s_ + case_s) / (over + 1);
  return case_s + mean_s * static_cast<double>(cases_ - std::min(cases_, begun_));
}

std::string progress_text(const std::string& lead, const std::string& id,
                          const std::string& figures, std::size_t width) {
  const std::size_t rest = display_width(lead) + display_width(figures);
  const std::size_t room = std::max(width - std::min(width, rest), kFewestOfId);
  return cut_to_width(lead + cut_to_width(id, room) + figures, width);
}

void ProgressLine::next_case(const std::string& id) {
  clear();
  ++begun_;
  id_ = printable(id);
  remaining_.case_begins(now_s());
}

std::size_t ProgressLine::room() {
  const std::size_t width = width_ ? width_() : 0;
  if (width < 2) return 0;
  const auto now = std::chrono::steady_clock::now();
  if (visible_ && now - last_ < std::chrono::milliseconds(100)) return 0;
  last_ = now;
  return width - 1;  // the last column stays free: some terminals break the line there
}

void ProgressLine::write(const std::string& line) {
  err_ << "\r\x1b[K" << line << std::flush;
  visible_ = true;
}

void ProgressLine::log(const std::string& line) {
  const auto now = std::chrono::steady_clock::now();
  if (every_s_ <= 0 || now - logged_ < std::chrono::duration<double>(every_s_)) return;
  logged_ = now;
  err_ << line << '\n' << std::flush;
}

void ProgressLine::show(const std::string& text, double case_s) {
  const std::size_t width = room();
  if (width == 0 && width_) return;
  const std::string lead = fmt::format("case {}/{} ", begun_, cases_);
  std::string figures = " · " + printable(text);
  const double left_s = remaining_.seconds(now_s(), case_s);
  if (left_s > 0) figures += " · " + rough_time(left_s) + " left of the run";
  if (!width_) return log(lead + id_ + figures);
  write(progress_text(lead, id_, figures, width));
}

void ProgressLine::show(const std::string& text) {
  if (!width_) return log(printable(text));
  if (const std::size_t width = room(); width > 0) write(cut_to_width(printable(text), width));
}

void ProgressLine::clear() {
  if (visible_) err_ << "\r\x1b[K" << std::flush;  // ESC [ K erases to the end of the line
  visible_ = false;
}

}  // namespace attnbench
