// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/capture_window.h"

namespace attnbench {

CaptureWindow::CaptureWindow() = default;
CaptureWindow::~CaptureWindow() = default;

}  // namespace attnbench
