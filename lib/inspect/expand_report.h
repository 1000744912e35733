// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <span>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/index/index_formats.h"
#include "lib/scenario/scenario.h"
#include "lib/session/devices.h"
#include "lib/session/executor.h"

namespace attnbench {

// What a scenario means, without running it: requests, index arrays (abridged), pages, bytes and
// FLOPs. Runs the allocators, never touches tensor memory.

/// For people. Runs of requests with equal lengths share a line; arrays of `formats` are abridged
/// too, tables row by row.
void write_expand_table(const Scenario& scenario, const std::vector<const Case*>& cases,
                        std::ostream& out, std::span<const IndexFormat* const> formats = {});
/// Every request on its own, index arrays abridged to their first and last entries, those of
/// `formats` whole.
void write_expand_json(const Scenario& scenario, const std::vector<const Case*>& cases,
                       std::ostream& out, std::span<const IndexFormat* const> formats = {});

/// The question: which of these backends support which cases on these devices.
struct SupportQuestion {
  const Scenario& scenario;
  std::vector<const Case*> cases;
  std::vector<const Registry::Entry*> backends;
  const Devices& devices;
  Executor& hosts;  ///< where backends that have a host of their own are asked
};

/// The matrix case x backend: OK, or UNSUPPORTED with the reason.
void write_support_table(const SupportQuestion& question, std::ostream& out);
void write_support_json(const SupportQuestion& question, std::ostream& out);

}  // namespace attnbench
