// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/in_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <ostream>
#include <utility>

#include "lib/base/exit_code.h"
#include "lib/base/this_process.h"

namespace attnbench {
namespace {

/// Writes to a descriptor.
class DescriptorBuffer final : public std::streambuf {
 public:
  explicit DescriptorBuffer(int descriptor) : descriptor_(descriptor) {
    setp(text_.data(), text_.data() + text_.size());
  }
  ~DescriptorBuffer() override { flush(); }

 protected:
  int_type overflow(int_type c) override {
    if (!flush()) return traits_type::eof();
    if (!traits_type::eq_int_type(c, traits_type::eof())) sputc(traits_type::to_char_type(c));
    return traits_type::not_eof(c);
  }
  int sync() override { return flush() ? 0 : -1; }

 private:
  bool flush() {
    const char* at = pbase();
    while (at < pptr()) {
      const ssize_t written = ::write(descriptor_, at, static_cast<std::size_t>(pptr() - at));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      at += written;
    }
    setp(text_.data(), text_.data() + text_.size());
    return true;
  }

  int descriptor_;
  std::array<char, 8192> text_;
};

// As with a signal's handler, an exit handler has no other place to read from.
ExitGuard* youngest = nullptr;

using std::chrono::steady_clock;

/// Far below the times that are watched, and too rare to disturb what is measured.
constexpr std::chrono::milliseconds kGlance{500};

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

InProcess::InProcess(Console& console)
    : console_(&console),
      standard_output_(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)),
      guard_([&console] {
        console.err << "error: a plug-in called exit() as it was loaded into this process "
                       "(--in-process)\n";
      }) {
  if (&console.out != &std::cout || standard_output_ < 0) return;  // a test, or a closed stream
  console.out.flush();
  std::fflush(stdout);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const int output = standard_output_;
  to_standard_output_ = std::make_unique<DescriptorBuffer>(output);
  replaced_ = console.out.rdbuf(to_standard_output_.get());
  console.out_width = [output] { return terminal_width(output); };
  console.out_reader_is_gone = [output] { return reader_is_gone(output); };
}

InProcess::~InProcess() {
  if (replaced_ != nullptr) {
    console_->out.flush();
    const auto state = console_->out.rdstate();  // which rdbuf() clears
    console_->out.rdbuf(replaced_);
    console_->out.setstate(state);
    std::fflush(stdout);
    dup2(standard_output_, STDOUT_FILENO);
    console_->out_width = [] { return terminal_width(STDOUT_FILENO); };
    console_->out_reader_is_gone = [] { return reader_is_gone(STDOUT_FILENO); };
  }
  if (standard_output_ >= 0) ::close(standard_output_);
}

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

// Takes the place of the C library's in the whole process, plug-ins included, since the program
// comes first where names are looked up. Library code that ends a process by exit() does not call
// it by name.
extern "C" void _exit(int code) {
  attnbench::ExitGuard::leave_by_guard();
  attnbench::end_process(code);
}
extern "C" void _Exit(int code) { _exit(code); }
