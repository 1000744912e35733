// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/case_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <ostream>
#include <utility>
#include <vector>

#include "lib/backend/format_choice.h"
#include "lib/dump/dump.h"
#include "lib/run/driver.h"
#include "lib/scenario/problem_of.h"
#include "lib/session/backend_code.h"
#include "lib/verify/error_model.h"
#include "reference/oracle.h"

namespace attnbench {
namespace {

/// One line per row: request, token, query head, LSE, then O. Of a recurrent layer the row of the
/// state, or -1, stands in place of the LSE.
NpyArray reference_table(const Case& c, const std::vector<ReferenceRow>& rows) {
  std::vector<double> table;
  for (const ReferenceRow& row : rows) {
    table.insert(table.end(),
                 {static_cast<double>(row.id.request), static_cast<double>(row.id.token),
                  static_cast<double>(row.id.head),
                  c.layer.is_recurrent() ? static_cast<double>(row.id.state_row) : row.lse});
    table.insert(table.end(), row.out.begin(), row.out.end());
  }
  return make_npy(table, {static_cast<std::int64_t>(rows.size()), 4 + c.layer.head_dim_v});
}

/// How far a backend of these numerics may be from each of the rows: LSE, then O.
NpyArray bound_table(const Case& c, const Numerics& numerics,
                     const std::vector<ReferenceRow>& rows) {
  const ErrorModel model(c, numerics);
  std::vector<double> table;
  for (const ReferenceRow& row : rows) {
    const ErrorModel::Row terms = model.row(row);
    table.push_back(terms.lse_bound);
    for (std::size_t d = 0; d < row.out.size(); ++d) {
      table.push_back(model.bound(terms, row.out[d], row.a[d]));
    }
  }
  return make_npy(table, {static_cast<std::int64_t>(rows.size()), 1 + c.layer.head_dim_v});
}

std::vector<std::pair<std::string, std::string>> roundings_of(const Numerics& numerics) {
  std::vector<std::pair<std::string, std::string>> roundings;
  for (const auto& [what, dtype] : {std::pair{"qk_input", numerics.qk_input},
                                    {"p", numerics.p},
                                    {"accumulator", numerics.accumulator},
                                    {"partial_out", numerics.partial_out}}) {
    roundings.emplace_back(what, to_string(dtype));
  }
  roundings.emplace_back("partial_roundings", std::to_string(numerics.partial_roundings));
  return roundings;
}

void dump_outputs(DumpWriter& writer, const Registry::Entry& entry, const Case& scenario_case,
                  Fill fill, const std::vector<ReferenceRow>& rows, const Devices& devices,
                  std::ostream& notes) {
  const std::string& name = entry.info.name;
  std::string stem = name;  // of files: "splitkv:splits=16" is a name that not every system takes
  std::ranges::replace(stem, ':', '.');
  std::ranges::replace_if(
      stem, [](char c) { return c == '=' || c == '+'; }, '-');
  const auto skip = [&](const std::string& reason) {
    notes << fmt::format("{}: no outputs: {}\n", name, reason);
    writer.describe(DumpedBackend{name, entry.info.version, reason, {}});
  };
  if (!entry.make) return skip(entry.absence);
  if (!entry.host.empty()) {
    const bool is_python = entry.plugin.ends_with(".py");
    return skip(fmt::format("it runs in a process of its own, which dump does not start{}",
                            is_python ? "" : "; --in-process loads it into this one"));
  }
  Device& device = *device_for(entry, devices);
  const std::unique_ptr<Backend> backend = entry.make();
  const FormatChoice choice = call_backend([&] {
    return choose_format(*backend, problem_of(scenario_case), scenario_case.kv_cache.layout);
  });
  if (!choice) return skip(fmt::format("UNSUPPORTED({})", choice.support.reason()));
  Case c = scenario_case;
  c.kv_cache.layout = choice.layout;
  const Numerics numerics = call_backend([&] { return backend->numerics(problem_of(c)); });
  writer.describe(DumpedBackend{name, entry.info.version, "", roundings_of(numerics)});
  writer.add("bound_" + stem, bound_table(c, numerics, rows),
             "how far " + name + " may be from each of reference_rows: LSE, O[dv]");
  Fixture fixture(c, device);
  fixture.fill(fill);
  PlanMemory memory(device);
  const std::unique_ptr<Stream> stream = device.make_stream();
  const std::unique_ptr<Plan> plan =
      call_backend([&] { return backend->plan(fixture.batch(), memory); });
  call_backend([&] {
    plan->run(*stream);
    stream->synchronize();
  });
  const AttentionTensors outputs = fixture.host_outputs();
  writer.add("out_" + stem, widened(outputs.out.read_only()),
             "O of " + name + " [tokens, heads, dv]");
  if (c.layer.is_recurrent()) {
    writer.add("states_" + stem, state_array(fixture.host_states()),
               fmt::format("states that {} leaves [{}, value heads, dk, dv]", name,
                           c.mode == ForwardMode::kTargetVerify ? "draft tokens" : "slots"));
    return;
  }
  writer.add("lse_" + stem, widened_2d(outputs.lse.read_only()),
             "LSE of " + name + " [tokens, heads_q]");
}

}  // namespace

bool dump_case_with_outputs(const CaseDump& wanted, std::ostream& notes) {
  const Case& c = wanted.c;
  const Contents contents(c, wanted.fill);
  DumpWriter writer(wanted.folder, wanted.replace);
  const Environment environment = describe_environment(wanted.devices.front()->info());
  writer.describe(DumpOrigin{environment.version, environment.git_sha, wanted.scenario.path,
                             wanted.scenario.sha256, wanted.scenario.seed});
  {
    Fixture fixture(c, *wanted.devices.front());  // the host's
    fixture.fill(wanted.fill);
    dump_case(writer, fixture, contents);
  }
  const std::vector<ReferenceRow> rows =
      reference::evaluate_rows(c, contents, reference::sample_rows(c, wanted.rows));
  writer.add("reference_rows", reference_table(c, rows),
             c.layer.is_recurrent()
                 ? "float64 reference, one line per row: request, token, value head, row of the "
                   "state or -1, O[dv] or state[dv]"
                 : "float64 reference, one line per row: request, token, head, LSE, O[dv]");
  bool crashed = false;
  for (const Registry::Entry* entry : wanted.entries) {
    try {
      dump_outputs(writer, *entry, c, wanted.fill, rows, wanted.devices, notes);
    } catch (const BackendFailed& failed) {
      notes << fmt::format("{}: no outputs: CRASHED({})\n", entry->info.name, failed.what());
      crashed = true;
    }
  }
  writer.finish();
  return !crashed;
}

}  // namespace attnbench
