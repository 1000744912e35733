// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/in_process.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <iostream>
#include <ostream>

#include "apps/attnbench/standard_stream.h"

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

}  // namespace

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

}  // namespace attnbench
