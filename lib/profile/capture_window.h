// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace attnbench {

/// Tells an attached profiler to record from here to the object's end (cudaProfilerStart and Stop).
/// Nothing happens without a CUDA build or without a profiler.
class CaptureWindow {
 public:
  CaptureWindow();
  ~CaptureWindow();
  CaptureWindow(const CaptureWindow&) = delete;  // one window, one end
  CaptureWindow& operator=(const CaptureWindow&) = delete;
};

}  // namespace attnbench
