// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

#include "lib/backend/registry.h"
#include "lib/fixture/fixture.h"
#include "lib/scenario/scenario.h"
#include "lib/session/devices.h"

namespace attnbench {

/// A case to write as .npy files.
struct CaseDump {
  const Scenario& scenario;
  const Case& c;
  Fill fill;
  std::int64_t rows;                                ///< about so many of the reference
  std::span<const Registry::Entry* const> entries;  ///< backends whose outputs are written
  const Devices& devices;                           ///< theirs, the processor first
  std::string folder;
  bool replace;  ///< the dump that the folder holds
};

/// Writes tensors, index arrays, reference rows and each backend's outputs. A backend without
/// outputs has a line in `notes`. False where one has crashed. Throws as DumpWriter does.
[[nodiscard]] bool dump_case_with_outputs(const CaseDump& wanted, std::ostream& notes);

}  // namespace attnbench
