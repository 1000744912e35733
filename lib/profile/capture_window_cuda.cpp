// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <cuda_profiler_api.h>

#include "lib/profile/capture_window.h"

namespace attnbench {

// Without a GPU both return an error, which is ignored: then no profiler records.
CaptureWindow::CaptureWindow() { static_cast<void>(cudaProfilerStart()); }
CaptureWindow::~CaptureWindow() { static_cast<void>(cudaProfilerStop()); }

}  // namespace attnbench
