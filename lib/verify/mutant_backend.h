// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/backend/attention_backend.h"
#include "lib/verify/fault.h"

namespace attnbench {

/// A correct backend, simple on purpose, with one fault put in: shows that the checks can fail. It
/// shares no code with any other backend. On a GPU it is a kernel of the same lines (mutant_row.h).
class MutantBackend final : public AttentionBackend {
 public:
  explicit MutantBackend(Fault fault, DeviceKind device = DeviceKind::kCpu);

  [[nodiscard]] const BackendInfo& info() const noexcept override { return info_; }
  [[nodiscard]] Support supports(const Case&, const Device&) const override {
    return Support::yes();
  }
  [[nodiscard]] Numerics numerics(const Case& c) const override;
  void init_forward_metadata(const ForwardBatch& batch, const AttentionLayer& layer,
                             Workspace& workspace) override;

 protected:
  void forward_decode(const AttentionIo& io, Stream& stream) override;
  void forward_extend(const AttentionIo& io, Stream& stream) override;

 private:
  /// The batch's index tensors where a CPU reads them.
  [[nodiscard]] DeviceBatch host_indices(const ForwardBatch& batch);

  Fault fault_;
  BackendInfo info_;
  DeviceBatch indices_;
  std::vector<std::int32_t> kv_lens_;    ///< of host_indices()
  std::vector<std::int32_t> qo_indptr_;  ///< likewise
  std::byte* scratch_ = nullptr;  ///< the count of runs, then the sums, to the workspace's end
};

}  // namespace attnbench
