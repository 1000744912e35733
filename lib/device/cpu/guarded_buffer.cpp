// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/device/cpu/guarded_buffer.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "lib/base/error.h"
#include "lib/device/cpu/set_bytes.h"

namespace attnbench {
namespace {

constexpr std::size_t kAlignment =
    256;  // a cache line of any CPU, and what device allocators promise
constexpr std::size_t kGuardBytes = 4096;
constexpr auto kGuardPattern = std::byte{0xa5};
constexpr auto kPoison = std::byte{0xff};  // NaN in every float type

class GuardedBuffer final : public Buffer {
 public:
  GuardedBuffer(std::size_t bytes, std::byte* memory) : bytes_(bytes), memory_(memory) {
    GuardedBuffer::restore_guards();
    set_bytes({data(), bytes_}, kPoison);
  }

  [[nodiscard]] std::byte* data() noexcept override { return memory_.get() + kGuardBytes; }
  [[nodiscard]] std::size_t size() const noexcept override { return bytes_; }

  [[nodiscard]] bool guards_intact() const override {
    const auto untouched = [](std::byte b) { return b == kGuardPattern; };
    const std::byte* const after = memory_.get() + kGuardBytes + bytes_;
    return std::all_of(memory_.get(), memory_.get() + kGuardBytes, untouched) &&
           std::all_of(after, after + kGuardBytes, untouched);
  }

  void restore_guards() override {
    std::fill_n(memory_.get(), kGuardBytes, kGuardPattern);
    std::fill_n(memory_.get() + kGuardBytes + bytes_, kGuardBytes, kGuardPattern);
  }

 private:
  struct Release {
    void operator()(std::byte* memory) const noexcept {
      ::operator delete[](memory, std::align_val_t{kAlignment});
    }
  };
  std::size_t bytes_;
  std::unique_ptr<std::byte[], Release> memory_;
};

}  // namespace

std::unique_ptr<Buffer> make_guarded_buffer(std::size_t bytes, std::string_view what) {
  void* memory =
      ::operator new[](bytes + 2 * kGuardBytes, std::align_val_t{kAlignment}, std::nothrow);
  if (memory == nullptr) {
    throw EnvironmentError(fmt::format("no memory for {}: {} bytes were asked for", what, bytes));
  }
  return std::make_unique<GuardedBuffer>(bytes, static_cast<std::byte*>(memory));
}

}  // namespace attnbench
