// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>

namespace attnbench {

/// Whether a backend takes a case, with a reason a person can act on when it does not.
class Support {
 public:
  [[nodiscard]] static Support yes() { return Support({}); }
  [[nodiscard]] static Support no(std::string reason) {
    return Support(reason.empty() ? "it gives no reason" : std::move(reason));
  }

  [[nodiscard]] explicit operator bool() const noexcept { return reason_.empty(); }
  [[nodiscard]] const std::string& reason() const noexcept { return reason_; }

 private:
  explicit Support(std::string reason) : reason_(std::move(reason)) {}
  std::string reason_;
};

}  // namespace attnbench
