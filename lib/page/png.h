// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace attnbench {

/// The picture at twice its size in pixels, as a PNG file's bytes. Starts `rsvg-convert` (Debian's
/// librsvg2-bin); throws EnvironmentError, naming the package, where there is none or it fails.
[[nodiscard]] std::string png_of_svg(const std::string& svg);

}  // namespace attnbench
