// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "lib/backend/registry.h"

namespace attnbench {

/// What a planted backend does besides its work; each may be empty.
struct Misdeeds {
  std::function<void()> when_planning;
  /// Before each forward; may change what it reads and writes.
  std::function<void(AttentionIo&)> when_running;
};

/// A backend under another name, with misdeeds.
class PlantedBackend final : public AttentionBackend {
 public:
  PlantedBackend(std::string name, std::unique_ptr<AttentionBackend> honest, Misdeeds misdeeds)
      : honest_(std::move(honest)), misdeeds_(std::move(misdeeds)), info_(honest_->info()) {
    info_.name = std::move(name);
  }

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case& c, const Device& device) const override {
    return honest_->supports(c, device);
  }
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override {
    if (misdeeds_.when_planning) misdeeds_.when_planning();
    honest_->init_forward_metadata(batch, layer, workspace);
  }

 private:
  void forward_decode(const AttentionIo& io, Stream& stream) override { run(io, stream); }
  void forward_extend(const AttentionIo& io, Stream& stream) override { run(io, stream); }
  void run(AttentionIo io, Stream& stream) {
    if (misdeeds_.when_running) misdeeds_.when_running(io);
    honest_->forward(io, stream);
  }

  std::unique_ptr<AttentionBackend> honest_;
  Misdeeds misdeeds_;
  BackendInfo info_;
};

}  // namespace attnbench
