// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace attnbench {

/// A named range in the NVTX domain "attnbench", open while the object lives, so that a timeline
/// shows which cell the work belongs to. Does nothing in a build without NVTX. Never open one
/// inside a sample: a range costs up to 10 us under a profiler (FlashInfer PR 1337).
class NvtxRange {
 public:
  explicit NvtxRange(const std::string& name);
  /// With a payload: the bytes that one forward has to move.
  NvtxRange(const std::string& name, std::int64_t bytes);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;  // one range, one end
  NvtxRange& operator=(const NvtxRange&) = delete;
};

}  // namespace attnbench
