// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/engine_support.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <string>

#include "lib/base/printable.h"
#include "lib/engines/engine_backends.h"
#include "lib/engines/engine_choice.h"
#include "lib/engines/engine_graphs.h"
#include "lib/engines/engine_setup_of.h"
#include "lib/scenario/problem_of.h"
#include "lib/view/json.h"
#include "lib/view/table.h"

namespace attnbench {
namespace {

struct EngineAnswer {
  const Case* of = nullptr;
  Engine engine = Engine::kSglang;
  std::string backend;
  bool of_vision = false;     ///< of a vision tower, whose backend the server sets apart
  std::string refusal;        ///< of a launch without a CUDA graph; empty: it takes the case
  std::string unknown;        ///< what it is not known to take; nothing where it refuses
  std::string graph_refusal;  ///< of the graph that the scenario asks for
  bool by_default = false;
  int padded_heads = 0;  ///< to which the rank's query heads are padded; 0: they are not
};

/// The setup of a case, without a CUDA graph and with the one that the scenario asks for.
struct CaseSetups {
  const Case& of;
  EngineSetup eager, recorded;
};

CaseSetups setups_of(const Case& c, Engine engine, const EngineSupportQuestion& question) {
  const auto& launches = question.scenario.measure.launch;
  CaseSetups setups{
      c,
      engine_setup_of(c, question.device, question.scenario.verify.batch_invariant_required),
      {}};
  setups.eager.version = question.version;
  setups.recorded = setups.eager;
  if (std::ranges::find(launches, LaunchMode::kGraph) != launches.end()) {
    setups.recorded.graph = graph_needed_in(engine, problem_of(c));
  }
  return setups;
}

EngineAnswer answer_of(const EngineBackend& backend, const CaseSetups& setups) {
  const bool of_vision = backend.layers == EngineBackend::Layers::kVision;
  EngineAnswer answer{&setups.of,
                      backend.engine,
                      std::string(backend.name),
                      of_vision,
                      refusal_of(backend, setups.eager),
                      {},
                      {},
                      false,
                      setups.of.layer.heads_q < backend.padded_heads ? backend.padded_heads : 0};
  if (answer.refusal.empty()) {
    answer.unknown = unknown_of(backend, setups.eager);
    answer.graph_refusal = refusal_of(backend, setups.recorded);
  }
  return answer;
}

/// The choice of an engine where the table has no row of it, or why there is none.
EngineAnswer answer_without_row(const Case& c, Engine engine, const EngineChoice& choice) {
  EngineAnswer answer;
  answer.of = &c;
  answer.engine = engine;
  answer.backend = choice.backend.empty() ? "?" : choice.backend;
  answer.by_default = !choice.backend.empty();
  answer.unknown =
      choice.backend.empty() ? choice.reason : "attnbench has no list of what it takes";
  return answer;
}

std::vector<EngineAnswer> answers_to(const EngineSupportQuestion& question) {
  std::vector<EngineAnswer> answers;
  for (const Case* c : question.cases) {
    for (const Engine engine : kEngines) {
      const CaseSetups setups = setups_of(*c, engine, question);
      const EngineSetup& setup = setups.eager;
      const EngineChoice choice = setup.of_linear_layer ? choose_linear_backend(engine, setup)
                                                        : choose_backend(engine, setup);
      bool has_row = false;
      const std::string vision = choose_vision_backend(engine, setup).backend;
      for (const EngineBackend* backend : engine_backends(engine, setup)) {
        const bool of_vision = backend->layers == EngineBackend::Layers::kVision;
        if (of_vision ? !may_be_vision(setup) : backend->layers != layers_of(setup)) continue;
        answers.push_back(answer_of(*backend, setups));
        answers.back().by_default = backend->name == (of_vision ? vision : choice.backend);
        has_row |= !of_vision && answers.back().by_default;
      }
      if (!has_row) answers.push_back(answer_without_row(*c, engine, choice));
    }
  }
  return answers;
}

/// "fa3", "fa3 (vision)".
std::string name_of(const EngineAnswer& answer) {
  return answer.backend + (answer.of_vision ? " (vision)" : "");
}

std::string text_of(const EngineAnswer& answer) {
  const std::string marked = answer.by_default ? " (taken by default)" : "";
  if (!answer.refusal.empty()) return "no: " + answer.refusal + marked;
  if (!answer.unknown.empty()) return "unknown: " + answer.unknown + marked;
  if (!answer.graph_refusal.empty()) return "yes, but " + answer.graph_refusal + marked;
  if (answer.padded_heads > 0) {
    return fmt::format("yes, {} query heads padded to {}{}", answer.of->layer.heads_q,
                       answer.padded_heads, marked);
  }
  return "yes" + marked;
}

}  // namespace

void write_engine_support_table(const EngineSupportQuestion& question, std::ostream& out) {
  Table table{.columns = {{.heading = "case", .gap = 0}, {"engine"}, {"backend"}, {"takes it"}}};
  for (const EngineAnswer& answer : answers_to(question)) {
    table.rows.push_back(
        {{answer.of->id, std::string(to_string(answer.engine)), name_of(answer), text_of(answer)}});
  }
  const EngineSetup asked{.version = question.version};
  out << fmt::format("{} on {} · SGLang {}, vLLM {}\n", printable(question.scenario.name),
                     question.device.name, asked.version_of(Engine::kSglang),
                     asked.version_of(Engine::kVllm))
      << terminal_text(table);
}

void write_engine_support_json(const EngineSupportQuestion& question, std::ostream& out) {
  Json rows = Json::array();
  for (const EngineAnswer& answer : answers_to(question)) {
    rows.push_back({{"case", answer.of->id},
                    {"engine", to_string(answer.engine)},
                    {"backend", answer.backend},
                    {"of_vision", answer.of_vision},
                    {"supported", answer.refusal.empty() && answer.unknown.empty()},
                    {"reason", answer.refusal},
                    {"unknown", answer.unknown},
                    {"graph_reason", answer.graph_refusal},
                    {"by_default", answer.by_default},
                    {"padded_heads", answer.padded_heads}});
  }
  const EngineSetup asked{.version = question.version};
  Json versions = Json::object();
  for (const Engine engine : kEngines) versions[to_string(engine)] = asked.version_of(engine);
  const Json root = {{"scenario", question.scenario.name},
                     {"arch", question.device.name},
                     {"versions", versions},
                     {"answers", rows}};
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
