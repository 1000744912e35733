// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

#include "lib/backend/backend.h"
#include "lib/base/error.h"
#include "lib/session/session.h"

namespace attnbench {

inline constexpr const char* kNoException = "threw something that is no std::exception";

/// Runs a backend's own code. Whatever it throws is a failure of the backend, except a lack of
/// memory.
template <class Step>
auto call_backend(const Step& step) {
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

/// Work that runs `plan`, which must outlive it. While a graph is recorded, the work adds the
/// plan's own graph instead, if there is one. Any exception becomes a runtime_error, so that it
/// ends this backend's cells only.
[[nodiscard]] Work run_of(Plan& plan);

}  // namespace attnbench
