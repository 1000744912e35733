// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "lib/gate/compare.h"
#include "lib/gate/gate_text.h"

namespace attnbench {

/// Of a cell between two versions.
enum class VersionEffect : std::uint8_t {
  kVerdict,  ///< slower, faster, wrong, mended, no longer run, run at last
  kKernel,   ///< another kernel
};

/// What one version did to one cell. Versions are indices of VersionSearch::versions.
struct VersionChange {
  VersionEffect effect = VersionEffect::kVerdict;
  Comparison ends;  ///< the last version against the first one
  /// The latest comparison that shows the change: of a version that still was as the first one
  /// with `by`.
  Comparison seen;
  std::size_t after = 0;  ///< the last version that is known to be as the first one
  std::size_t by = 0;     ///< the earliest version that is known to have the change
  std::map<std::size_t, std::string> untold;  ///< versions that decide nothing here, each with why
};

/// Which version of a package changed each cell.
struct VersionSearch {
  std::string package;
  std::vector<std::string>
      versions;  ///< two or more, the oldest first; the outer ones are compared
  GateReport ends = {};
  std::vector<VersionChange> changes = {};
  std::map<std::size_t, std::string> skipped = {};  ///< versions that cannot be had, each with why
  int comparisons = 0;
  std::string trouble = {};  ///< that ended the search before its end; empty: none
  bool interrupted = false;
};

/// How the search gets at versions.
struct VersionProbe {
  /// Why a version cannot be had; empty: it can, from now on.
  std::function<std::string(std::size_t version)> install;
  /// Judges a version against an older one. `cells` empty: all. `with_times`: not only what ran,
  /// whether it was right, and by which kernel.
  std::function<GateReport(std::size_t base, std::size_t now, const std::vector<CellKey>& cells,
                           bool with_times)>
      compare;
  std::function<bool()> stop_requested;
};

/// Compares the first version with the last one and then, for each cell that changed, finds the
/// version by bisection. Cells whose search stands at the same two versions share a comparison. A
/// version that cannot be had, or does not decide a cell, makes room for its neighbour. A change
/// that a later version takes back is not looked for, and of several changes of a cell only one is
/// found. Throws EnvironmentError where an end cannot be had or measured; a later one is `trouble`.
void search_versions(const VersionProbe& probe, VersionSearch& search);

/// Versions strictly between `after` and `by`, which may have made the change as well.
[[nodiscard]] std::vector<std::size_t> versions_between(const VersionChange& change);

/// A row a change, by version, and a closing line with the count of everything else.
void write_versions_terminal(const VersionSearch& search, const TextOptions& options, int exit_code,
                             std::ostream& out);
/// The same for machines, with every cell.
void write_versions_json(const VersionSearch& search, int exit_code, std::ostream& out);

}  // namespace attnbench
