// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/report/engine_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "lib/backend/engine_rules/engine_backends.h"
#include "lib/backend/engine_rules/engine_choice.h"
#include "lib/base/printable.h"
#include "lib/report/json.h"
#include "lib/report/units.h"
#include "lib/scenario/engine_setup_of.h"
#include "lib/scenario/problem_of.h"

namespace attnbench {
namespace {

struct EngineAnswer {
  const Case* of = nullptr;
  Engine engine = Engine::kSglang;
  std::string backend;
  std::string refusal;        ///< of a launch without a CUDA graph; empty: it takes the case
  std::string graph_refusal;  ///< of the graph that the scenario asks for
  bool by_default = false;
  int padded_heads = 0;  ///< to which the rank's query heads are padded; 0: they are not
};

std::vector<EngineAnswer> answers_to(const EngineSupportQuestion& question) {
  std::vector<EngineAnswer> answers;
  const auto& launches = question.scenario.measure.launch;
  const bool graph = std::ranges::find(launches, LaunchMode::kGraph) != launches.end();
  for (const Case* c : question.cases) {
    if (c->layer.is_recurrent()) continue;
    const EngineSetup eager = engine_setup_of(*c, question.device);
    EngineSetup recorded = eager;
    if (graph) recorded.graph = needed_cuda_graph_support(problem_of(*c));
    for (const Engine engine : kEngines) {
      const std::string choice = choose_backend(engine, eager).backend;
      for (const EngineBackend* backend : engine_backends(engine, question.device)) {
        if (backend->layers != layers_of(eager)) continue;
        std::string refusal = refusal_of(*backend, eager);
        const std::string with_graph = refusal.empty() ? refusal_of(*backend, recorded) : "";
        answers.push_back({c, engine, std::string(backend->name), std::move(refusal), with_graph,
                           backend->name == choice,
                           c->layer.heads_q < backend->padded_heads ? backend->padded_heads : 0});
      }
    }
  }
  return answers;
}

std::string text_of(const EngineAnswer& answer) {
  const std::string marked = answer.by_default ? " (taken by default)" : "";
  if (!answer.refusal.empty()) return "no: " + answer.refusal + marked;
  if (!answer.graph_refusal.empty()) return "yes, but " + answer.graph_refusal + marked;
  if (answer.padded_heads > 0) {
    return fmt::format("yes, {} query heads padded to {}{}", answer.of->layer.heads_q,
                       answer.padded_heads, marked);
  }
  return "yes" + marked;
}

}  // namespace

void write_engine_support_table(const EngineSupportQuestion& question, std::ostream& out) {
  const std::vector<EngineAnswer> answers = answers_to(question);
  std::size_t case_width = 4, backend_width = 7;
  for (const Case* c : question.cases) {
    case_width = std::max(case_width, display_width(printable(c->id)));
  }
  for (const EngineAnswer& answer : answers) {
    backend_width = std::max(backend_width, answer.backend.size());
  }
  out << fmt::format("{} on {}\n{}  engine  {}  takes it\n", printable(question.scenario.name),
                     question.device.name, fit_left("case", case_width),
                     fit_left("backend", backend_width));
  for (const EngineAnswer& answer : answers) {
    out << fmt::format("{}  {:<6}  {}  {}\n", fit_left(printable(answer.of->id), case_width),
                       to_string(answer.engine), fit_left(answer.backend, backend_width),
                       text_of(answer));
  }
  for (const Case* c : question.cases) {
    if (!c->layer.is_recurrent()) continue;
    out << fmt::format("{}  a recurrent layer: engines choose no attention backend for it\n",
                       fit_left(printable(c->id), case_width));
  }
}

void write_engine_support_json(const EngineSupportQuestion& question, std::ostream& out) {
  Json rows = Json::array();
  for (const EngineAnswer& answer : answers_to(question)) {
    rows.push_back({{"case", answer.of->id},
                    {"engine", to_string(answer.engine)},
                    {"backend", answer.backend},
                    {"supported", answer.refusal.empty()},
                    {"reason", answer.refusal},
                    {"graph_reason", answer.graph_refusal},
                    {"by_default", answer.by_default},
                    {"padded_heads", answer.padded_heads}});
  }
  const Json root = {
      {"scenario", question.scenario.name}, {"arch", question.device.name}, {"answers", rows}};
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
