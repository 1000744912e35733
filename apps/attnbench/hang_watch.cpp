// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/hang_watch.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace attnbench {
namespace {

using std::chrono::steady_clock;

/// Far below the times that are watched, and too rare to disturb what is measured.
constexpr std::chrono::milliseconds kGlance{500};

}  // namespace

HangWatch::HangWatch(Options options)
    : options_(std::move(options)), thread_([this] { watch(); }) {}

HangWatch::~HangWatch() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void HangWatch::step(std::string what) {
  const std::lock_guard lock(mutex_);
  step_ = std::move(what);
  begin_ = steady_clock::now();
  noted_ = false;
}

void HangWatch::watch() {
  std::optional<steady_clock::time_point> asked;
  std::unique_lock lock(mutex_);
  while (!over_) {
    const auto now = steady_clock::now();
    const int signal = options_.signal();
    if (signal != 0 && !asked) asked = now;
    if (asked && now - *asked >= options_.patience) {
      options_.note(fmt::format(
          "signal {}: {} does not come back; it is in this process (--in-process), which ends now",
          signal, step_));
      options_.end(signal);
      return;
    }
    if (!noted_ && now - begin_ >= options_.notice) {
      noted_ = true;
      options_.note(
          fmt::format("no answer for {} s: {}; without --in-process it would be given up "
                      "after --timeout",
                      std::chrono::duration<double>(options_.notice).count(), step_));
    }
    changed_.wait_for(lock, kGlance);
  }
}

}  // namespace attnbench
