// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace attnbench {

/// A call of the CUDA runtime failed: the call, the error's name and its text. Many of these are
/// sticky: the process can do no further work on the GPU.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& call, const std::string& name, const std::string& text)
      : std::runtime_error(call + ": " + name + " (" + text + ")") {}
};

}  // namespace attnbench
