// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>

namespace attnbench {

/// A text file of the source tree that was compiled into the program (see cmake/embed_files.cmake).
struct EmbeddedFile {
  std::string_view stem;  ///< file name without folder and extension
  std::string_view text;
};

}  // namespace attnbench
