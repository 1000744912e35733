// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "lib/bench/timed_fault.h"
#include "lib/verify/mutant_backend.h"

namespace attnbench {

/// A correct backend around which one fault of timed launches is put.
class TimedMutant final : public AttentionBackend {
 public:
  TimedMutant(TimedFault fault, DeviceKind device);
  ~TimedMutant() override;

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override {
    return honest_.supports(c, device);
  }
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override { run(io, stream); }
  void forward_extend(const AttentionIo& io, Stream& stream) override { run(io, stream); }

 private:
  void run(const AttentionIo& io, Stream& stream);
  /// Runs honestly and keeps the result until it is late; then hands out what is kept.
  void run_kept(const AttentionIo& io, Stream& stream);
  void run_on_kept_cache(const AttentionIo& io, Stream& stream);
  void run_elsewhere(const AttentionIo& io);
  void keep(const AttentionIo& io, Stream& stream);
  void hand_out(const AttentionIo& io, Stream& stream) const;
  /// What the kept result is known by.
  [[nodiscard]] std::string key_of(const AttentionIo& io) const;
  void wait_for_threads();

  TimedFault fault_;
  DeviceKind device_;
  MutantBackend honest_, wrong_;
  BackendInfo info_;
  int launches_ = 0;
  std::unique_ptr<Buffer> kept_out_, kept_lse_, kept_k_, kept_v_;
  std::string kept_key_;
  std::optional<AttentionIo> first_io_;  ///< of the first forward ever
  bool answered_ = false;                ///< while planning, for first_io_
  std::unique_ptr<Workspace> wrong_workspace_;
  std::unique_ptr<Stream> other_stream_;
  std::vector<std::thread> threads_;
};

// What a mutant does on the device of `stream`.

/// Enqueues a copy within the device's memory.
void enqueue_copy(Stream& stream, std::byte* to, const std::byte* from, std::size_t bytes);
/// Whether what is enqueued now is recorded instead of run.
[[nodiscard]] bool is_capturing(Stream& stream);

}  // namespace attnbench
