// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "lib/backend/backend_info.h"
#include "lib/base/printable.h"
#include "lib/inspect/expand_report.h"
#include "lib/scenario/problem_of.h"
#include "lib/session/backend_code.h"
#include "lib/session/case_support.h"
#include "lib/view/json.h"
#include "lib/view/table.h"

namespace attnbench {
namespace {

/// Why not; empty: it is supported.
std::string refusal_of(const Registry::Entry& entry, const Case& c,
                       const SupportQuestion& question) {
  if (!entry.make) return entry.absence;
  try {
    const VerifyConfig& verify = question.scenario.verify;
    if (!entry.host.empty()) {
      const std::unique_ptr<Session> session = question.hosts.begin(c, entry, 1);
      const FormatChoice choice = session->supports();
      if (!choice || !verify.at_most) return choice.support.reason();
      return refusal_by_at_most(verify, session->numerics());
    }
    if (device_for(entry, question.devices) == nullptr) return "no device of its kind takes part";
    const std::unique_ptr<Backend> backend = entry.make();
    return call_backend([&] {
      const FormatChoice choice = choose_format_of(*backend, c);
      if (!choice || !verify.at_most) return choice.support.reason();
      std::vector<Numerics> declared;
      for (const Case& step : steps_of(c)) declared.push_back(backend->numerics(problem_of(step)));
      return refusal_by_at_most(verify, declared);
    });
  } catch (const BackendFailed& failed) {
    return fmt::format("it failed when it was asked: {}", failed.what());
  }
}

std::string refusal_of_graph(const Registry::Entry& entry, const Case& c) {
  const Support captured = supports_cuda_graph(entry.info, problem_of(c));
  return captured ? std::string() : captured.reason();
}

std::string answer_of(const SupportQuestion& question, const Registry::Entry& entry,
                      const Case& c) {
  const auto& launches = question.scenario.measure.launch;
  std::string refusal = refusal_of(entry, c, question);
  const bool graph = std::ranges::find(launches, LaunchMode::kGraph) != launches.end();
  const bool eager = graph && refusal.empty() && launches.size() > 1;
  if (refusal.empty() && graph) refusal = refusal_of_graph(entry, c);
  if (refusal.empty()) return "OK";
  return fmt::format("{}UNSUPPORTED({})", eager ? "OK eager, graph " : "", refusal);
}

}  // namespace

void write_support_table(const SupportQuestion& question, std::ostream& out) {
  Table table{.columns = {{.heading = "case", .gap = 0}, {"backend"}, {"support"}}};
  for (const Case* c : question.cases) {
    for (const Registry::Entry* entry : question.backends) {
      table.rows.push_back({{c->id, entry->info.name, answer_of(question, *entry, *c)}});
    }
  }
  out << printable(question.scenario.name) << '\n' << terminal_text(table);
}

void write_support_json(const SupportQuestion& question, std::ostream& out) {
  Json answers = Json::array();
  for (const Case* c : question.cases) {
    for (const Registry::Entry* entry : question.backends) {
      const std::string refusal = refusal_of(*entry, *c, question);
      for (const LaunchMode launch : question.scenario.measure.launch) {
        const std::string reason = refusal.empty() && launch == LaunchMode::kGraph
                                       ? refusal_of_graph(*entry, *c)
                                       : refusal;
        answers.push_back({{"case", c->id},
                           {"backend", entry->info.name},
                           {"launch", to_string(launch)},
                           {"supported", reason.empty()},
                           {"reason", reason}});
      }
    }
  }
  const Json root = {{"scenario", question.scenario.name}, {"answers", answers}};
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
