// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "lib/device/device.h"

namespace attnbench {

/// This machine's processor, one thread of it, for tests that change or watch some of what a device
/// does: they override that, and the rest is the processor's.
class ChangedProcessor : public Device {
 public:
  [[nodiscard]] const DeviceInfo& info() const noexcept override { return cpu_->info(); }
  [[nodiscard]] std::unique_ptr<Buffer> allocate(std::size_t bytes,
                                                 std::string_view what) override {
    return cpu_->allocate(bytes, what);
  }
  [[nodiscard]] std::unique_ptr<Stream> make_stream() override { return cpu_->make_stream(); }
  void copy_to_host(void* to, const std::byte* from, std::size_t bytes) override {
    cpu_->copy_to_host(to, from, bytes);
  }
  void copy_from_host(std::byte* to, const void* from, std::size_t bytes) override {
    cpu_->copy_from_host(to, from, bytes);
  }
  void flush_cache(Stream& stream) override { cpu_->flush_cache(stream); }
  void touch(Stream& stream, std::span<const std::span<const std::byte>> parts) override {
    cpu_->touch(stream, parts);
  }

 private:
  std::unique_ptr<Device> cpu_ = make_cpu_device(1);
};

}  // namespace attnbench
