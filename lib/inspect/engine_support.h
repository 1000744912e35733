// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <iosfwd>
#include <vector>

#include "lib/engines/engine_setup.h"
#include "lib/scenario/scenario.h"

namespace attnbench {

/// The question: which attention backends of serving engines take these cases on such a device.
struct EngineSupportQuestion {
  const Scenario& scenario;  ///< whose launches may ask for CUDA graphs
  std::vector<const Case*> cases;
  EngineDevice device;
  std::array<std::size_t, 2> version{};  ///< EngineSetup::version
};

/// The matrix case x engine's backend: yes, the reason why not, or what is not known of it, and
/// which one the engine takes by default. Backends for another family of layers are left out; those
/// of vision towers stand beside the others where a case could be of one: keys without a cache,
/// seen ahead.
void write_engine_support_table(const EngineSupportQuestion& question, std::ostream& out);
void write_engine_support_json(const EngineSupportQuestion& question, std::ostream& out);

}  // namespace attnbench
