// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/backend_code.h"

namespace attnbench {

Work run_of(Plan& plan) {
  return [plan = &plan](Stream& stream) {
    try {
      if (void* const graph = plan->graph(); graph != nullptr && stream.embed(graph)) return;
      plan->run(stream);
    } catch (const std::runtime_error&) {
      throw;
    } catch (const std::exception& error) {
      throw std::runtime_error(error.what());
    } catch (...) {
      throw std::runtime_error(kNoException);
    }
  };
}

}  // namespace attnbench
