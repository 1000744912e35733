// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "lib/report/expand_report.h"
#include "lib/report/units.h"

namespace attnbench {
namespace {

std::string answer_of(const Registry::Entry& entry, const Case& c, const Devices& devices) {
  if (!entry.make) return fmt::format("UNSUPPORTED({})", entry.absence);
  const Device* const device = device_for(entry, devices);
  if (device == nullptr) return "UNSUPPORTED(no device of its kind takes part)";
  const Support support = entry.make()->supports(c, *device);
  return support ? "OK" : fmt::format("UNSUPPORTED({})", support.reason());
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
                         fit_left(entry->info.name, backend_width), answer_of(*entry, *c, devices));
    }
  }
}

}  // namespace attnbench
