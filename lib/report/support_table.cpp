// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "lib/backend/cuda_graph_capture.h"
#include "lib/report/expand_report.h"
#include "lib/report/units.h"

namespace attnbench {
namespace {

std::string answer_of(const Registry::Entry& entry, const Case& c, const Devices& devices,
                      const std::vector<LaunchMode>& launches) {
  if (!entry.make) return fmt::format("UNSUPPORTED({})", entry.absence);
  const Device* const device = device_for(entry, devices);
  if (device == nullptr) return "UNSUPPORTED(no device of its kind takes part)";
  if (const Support support = entry.make()->supports(c, *device); !support) {
    return fmt::format("UNSUPPORTED({})", support.reason());
  }
  const bool graph = std::ranges::find(launches, LaunchMode::kGraph) != launches.end();
  const Support captured = graph ? supports_cuda_graph(entry.info, c) : Support::yes();
  if (captured) return "OK";
  const bool eager = launches.size() > 1;
  return fmt::format("{}UNSUPPORTED({})", eager ? "OK eager, graph " : "", captured.reason());
}

}  // namespace

void write_support_table(const Scenario& scenario, const std::vector<const Case*>& cases,
                         const Registry& registry, const Devices& devices, std::ostream& out) {
  std::size_t case_width = 4, backend_width = 7;
  for (const Case* c : cases) case_width = std::max(case_width, display_width(c->id));
  std::vector<const Registry::Entry*> entries;  // a variant takes what its base takes
  for (const Registry::Entry& entry : registry.entries()) {
    if (!entry.info.by_default) continue;
    entries.push_back(&entry);
    backend_width = std::max(backend_width, display_width(entry.info.name));
  }
  out << fmt::format("{}\n{}  {}  support\n", scenario.name, fit_left("case", case_width),
                     fit_left("backend", backend_width));
  for (const Case* c : cases) {
    for (const Registry::Entry* entry : entries) {
      out << fmt::format("{}  {}  {}\n", fit_left(c->id, case_width),
                         fit_left(entry->info.name, backend_width),
                         answer_of(*entry, *c, devices, scenario.measure.launch));
    }
  }
}

}  // namespace attnbench
