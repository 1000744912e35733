// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "apps/attnbench/command.h"
#include "lib/base/exit_code.h"
#include "lib/report/text_layout.h"
#include "lib/verify/selftest.h"

namespace attnbench {
namespace {

using Json = nlohmann::ordered_json;

struct SelftestOptions {
  std::string format = "table";
  bool reasons = false;
};

void write_row(std::ostream& out, const std::string& name, const std::vector<std::string>& cells) {
  out << fmt::format("{:<31}", name);
  for (const std::string& cell : cells) out << fmt::format(" {:>10}", cell);
  out << '\n';
}

void write_table(const SelftestMatrix& matrix, bool reasons, std::ostream& out) {
  std::string cases;
  for (const std::string& id : matrix.cases) cases += (cases.empty() ? "" : ", ") + id;
  out << fmt::format("A correct backend and {} faulty copies of it on {} small cases ({}).\n",
                     matrix.mutants.size(), matrix.cases.size(), cases)
      << "x: the fill alone catches the fault   .: it does not\n\n";

  std::vector<std::string> cells;
  for (const Fill fill : matrix.fills) cells.emplace_back(to_string(fill));
  write_row(out, "fault", cells);
  cells.clear();
  for (const Verification& each : matrix.correct.by_fill)
    cells.emplace_back(to_string(each.verdict));
  write_row(out, "none", cells);
  std::vector<int> caught(matrix.fills.size());
  std::vector<int> alone(matrix.fills.size());
  int missed = 0;
  for (const SelftestRow& row : matrix.mutants) {
    cells.clear();
    std::vector<std::size_t> by;
    for (std::size_t f = 0; f < row.by_fill.size(); ++f) {
      const bool failed = is_failure(row.by_fill[f].verdict);
      cells.emplace_back(failed ? "x" : ".");
      if (failed) by.push_back(f);
    }
    for (const std::size_t f : by) ++caught[f];
    if (by.size() == 1) ++alone[by[0]];
    missed += by.empty() ? 1 : 0;
    write_row(out, std::string(to_string(row.fault)), cells);
    if (reasons && !by.empty()) out << wrapped(row.reason(), 100, 4);
  }
  out << '\n';
  const auto write_counts = [&](const std::string& name, const std::vector<int>& counts) {
    cells.clear();
    for (const int count : counts) cells.push_back(std::to_string(count));
    write_row(out, name, cells);
  };
  write_counts("caught", caught);
  write_counts("caught by no other fill", alone);

  out << '\n';
  if (matrix.sound()) {
    out << fmt::format("ok: all {} faults caught, the correct backend never blamed\n",
                       matrix.mutants.size());
    return;
  }
  if (missed > 0) out << fmt::format("FAILED: {} of the faults caught by no fill\n", missed);
  for (const Verification& each : matrix.correct.by_fill) {
    if (each.verdict == Verdict::kPassed) continue;
    out << wrapped(
        fmt::format("FAILED: the correct backend is {}: {}", to_string(each.verdict), each.reason),
        100, 0);
  }
}

Json row_json(const SelftestMatrix& matrix, const SelftestRow& row) {
  Json verdicts = Json::object();
  for (std::size_t f = 0; f < row.by_fill.size(); ++f) {
    const Verification& each = row.by_fill[f];
    verdicts[std::string(to_string(matrix.fills[f]))] = {
        {"verdict", std::string(to_string(each.verdict))}, {"reason", each.reason}};
  }
  return {{"fault", std::string(to_string(row.fault))},
          {"blamed", row.blamed()},
          {"by_fill", verdicts}};
}

void write_json(const SelftestMatrix& matrix, std::ostream& out) {
  Json mutants = Json::array();
  for (const SelftestRow& row : matrix.mutants) mutants.push_back(row_json(matrix, row));
  const Json all = {{"sound", matrix.sound()},
                    {"cases", matrix.cases},
                    {"correct", row_json(matrix, matrix.correct)},
                    {"mutants", mutants}};
  out << all.dump(2) << '\n';
}

}  // namespace

void add_selftest_command(CLI::App& app, Action& action) {
  auto options = std::make_shared<SelftestOptions>();
  CLI::App* selftest = app.add_subcommand(
      "selftest",
      "Prove that the checks can fail: give a simple correct backend one fault after the other and "
      "print which fill catches which. Exit code 70 if a fault gets through or the correct backend "
      "is blamed.\n\n"
      "  attnbench selftest --reasons\n"
      "  attnbench selftest --format json\n");
  selftest->add_option("--format", options->format, "table or json")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  selftest->add_flag("--reasons", options->reasons,
                     "below each fault, what the first fill that catches it says");
  selftest->callback([options, &action] {
    action = [options](const Registry&, Console& console) {
      const auto device = make_cpu_device();
      const SelftestMatrix matrix = run_selftest(*device, selftest_cases(), all_faults());
      if (options->format == "json") {
        write_json(matrix, console.out);
      } else {
        write_table(matrix, options->reasons, console.out);
      }
      return static_cast<int>(matrix.sound() ? ExitCode::kOk : ExitCode::kInternal);
    };
  });
}

}  // namespace attnbench
