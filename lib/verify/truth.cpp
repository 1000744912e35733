// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "lib/base/error.h"
#include "lib/verify/verify.h"

namespace attnbench {

std::vector<FillTruth> compute_truth(const Case& c, const VerifyConfig& config) {
  std::vector<FillTruth> truth;
  if (!config.enabled) return truth;
  const std::vector<RowId> rows = sample_rows(c, config.rows);
  for (const std::string& name : config.fills) {
    const std::optional<Fill> fill = fill_from_string(name);
    if (!fill) {
      throw ConfigError(fmt::format(
          "unknown fill '{}'   allowed here: needle tag sparse_int extreme normal timing", name));
    }
    const Contents contents(c, *fill);
    truth.push_back({*fill, evaluate_rows(c, contents, rows)});
  }
  return truth;
}

}  // namespace attnbench
