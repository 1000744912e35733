// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/gate/compare.h"
#include "lib/result/merge_runs.h"
#include "lib/view/json.h"

namespace attnbench {

/// What a page shows: results, in order, and the comparison of two of them where there is one.
struct PageContent {
  std::vector<NamedRun> files;
  std::optional<GateReport> comparison;
};

/// A name for each file, for people: its last part, or the whole path where two would be the same.
[[nodiscard]] std::vector<std::string> file_labels(const std::vector<NamedRun>& files);

/// All of it as the page's scripts read it:
///   files         label, path, environment, devices, scenarios …, how each backend did, and the
///                 attention of whole steps
///   order_legend  in which order the backends of a file stand
///   row_count     records of all files
///   columns       key, unit and description of each value of a row, and the values, as
///                 packed_column() has them; a column without them is computed there
///   comparison    null, or the gate's verdicts, by harm; its cells are columns, too
[[nodiscard]] Json page_data(const PageContent& content);

}  // namespace attnbench
