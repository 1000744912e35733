// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <omp.h>

#include <cstdint>

#include "lib/base/error.h"
#include "lib/device/cpu/available_memory.h"
#include "lib/verify/verify.h"
#include "reference/memory_need.h"

namespace attnbench {

namespace {

void refuse_beyond_memory(const Case& c) {
  const std::int64_t need = reference::memory_need(c, omp_get_max_threads());
  const std::int64_t available = available_memory_bytes();
  if (need <= available) return;
  throw EnvironmentError(
      fmt::format("the reference of {} needs {:.1f} GB of host memory; {:.1f} GB are available",
                  c.id, static_cast<double>(need) / 1e9, static_cast<double>(available) / 1e9));
}

}  // namespace

std::vector<FillTruth> compute_truth(const Case& c, const VerifyConfig& config) {
  std::vector<FillTruth> truth;
  if (!config.enabled) return truth;
  refuse_beyond_memory(c);
  std::vector<RowId> rows;
  if (attends(c.step)) rows = reference::sample_rows(c, config.rows);
  for (const std::string& name : config.fills) {
    const std::optional<Fill> fill = fill_from_string(name);
    if (!fill) {
      throw ConfigError(fmt::format(
          "unknown fill '{}'   allowed here: needle tag sparse_int extreme normal timing", name));
    }
    const Contents contents(c, *fill);
    truth.push_back({*fill, reference::evaluate_rows(c, contents, rows)});
  }
  return truth;
}

}  // namespace attnbench
