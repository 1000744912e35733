// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "lib/backend/backend.h"
#include "lib/base/error.h"
#include "lib/session/session.h"

namespace attnbench {

inline constexpr const char* kNoException = "threw something that is no std::exception";

/// Runs a backend's own code; whatever it throws is its failure, but for memory that is not there.
template <class Step>
auto of_backend(const Step& step) {
  try {
    return step();
  } catch (const EnvironmentError&) {
    throw;
  } catch (const std::exception& error) {
    throw BackendFailed(error.what());
  } catch (...) {
    throw BackendFailed(kNoException);
  }
}

/// A run of `plan`, which outlives the work; where it is being recorded, the plan's own graph if it
/// has one. An exception ends this backend's
/// cells only, whatever its kind: it becomes a runtime_error.
[[nodiscard]] Work run_of(Plan& plan);

}  // namespace attnbench
