// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/selftest_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <ostream>

#include "lib/device/cuda/cuda_device.h"
#include "lib/view/json.h"
#include "lib/view/text_layout.h"

namespace attnbench {
namespace {

/// Widths of the columns of names; timed faults have the longer names.
constexpr std::size_t kFaultWidth = 31, kTimedFaultWidth = 37;

void write_row(std::ostream& out, const std::string& name, const std::vector<std::string>& cells,
               std::size_t width = kFaultWidth) {
  out << fmt::format("{:<{}}", name, width);
  for (const std::string& cell : cells) out << fmt::format(" {:>10}", cell);
  out << '\n';
}

void write_matrix(const SelftestMatrix& matrix, bool reasons, std::ostream& out) {
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

void write_timed(const TimedSelftest& timed, bool reasons, std::ostream& out) {
  out << "\nBackends that are correct in every check except that of their timed launches\n";
  std::vector<std::string> cells;
  for (const TimedVerdict& each : timed.correct.by_launch) {
    cells.emplace_back(to_string(each.launch));
  }
  write_row(out, "fault", cells, kTimedFaultWidth);
  const auto write = [&](const TimedSelftestRow& row) {
    cells.clear();
    for (const TimedVerdict& each : row.by_launch) {
      cells.emplace_back(row.fault == TimedFault::kNone     ? to_string(each.verdict)
                         : is_failure(each.verdict)         ? "x"
                         : shows_in(row.fault, each.launch) ? "MISSED"
                                                            : ".");
    }
    write_row(out, std::string(to_string(row.fault)), cells, kTimedFaultWidth);
    for (const TimedVerdict& each : row.by_launch) {
      const bool wanted = reasons || !row.judged_rightly();
      if (wanted && !each.reason.empty()) out << wrapped(each.reason, 100, 4);
    }
  };
  write(timed.correct);
  for (const TimedSelftestRow& row : timed.mutants) write(row);
  out << '\n'
      << (timed.sound() ? fmt::format("ok: all {} faults of timed launches caught, the correct "
                                      "backend never blamed\n",
                                      timed.mutants.size())
                        : std::string("FAILED: a timed launch is judged wrongly\n"));
}

Json timed_json(const TimedSelftestRow& row) {
  Json verdicts = Json::object();
  for (const TimedVerdict& each : row.by_launch) {
    verdicts[std::string(to_string(each.launch))] = {
        {"verdict", std::string(to_string(each.verdict))}, {"reason", each.reason}};
  }
  return {{"fault", std::string(to_string(row.fault))},
          {"judged_rightly", row.judged_rightly()},
          {"by_launch", verdicts}};
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

Json part_json(const DeviceSelftest& part) {
  if (!part.absence.empty()) return {{"device", part.device}, {"absence", part.absence}};
  Json mutants = Json::array();
  for (const SelftestRow& row : part.matrix.mutants) mutants.push_back(row_json(part.matrix, row));
  Json timed = Json::array();
  for (const TimedSelftestRow& row : part.timed.mutants) timed.push_back(timed_json(row));
  return {{"device", part.device},      {"name", part.info.name},
          {"arch", part.info.arch},     {"sound", part.sound()},
          {"cases", part.matrix.cases}, {"correct", row_json(part.matrix, part.matrix.correct)},
          {"mutants", mutants},         {"timed_correct", timed_json(part.timed.correct)},
          {"timed_mutants", timed}};
}

}  // namespace

DeviceSelftest run_selftest_on(const std::string& name, bool asked_for) {
  DeviceSelftest part;
  part.device = name;
  if (name == "cuda" && !asked_for) part.absence = cuda_absence();
  if (!part.absence.empty()) return part;
  Devices devices;
  devices.push_back(make_cpu_device());
  if (name == "cuda") devices.push_back(make_cuda_device());
  part.info = devices.back()->info();
  part.matrix = run_selftest(*devices.back(), selftest_cases(), all_faults());
  part.timed = run_timed_selftest(devices, all_timed_faults());
  return part;
}

void write_selftest_legend(std::ostream& out) {
  const std::vector<Case> cases = selftest_cases();
  std::string ids;
  for (const Case& c : cases) ids += (ids.empty() ? "" : ", ") + c.id;
  out << fmt::format("A correct backend and {} faulty copies of it on {} small cases ({}).\n",
                     all_faults().size(), cases.size(), ids)
      << "columns: the six data sets   x: this one alone finds the fault   .: it does not\n";
}

void write_selftest_table(const DeviceSelftest& part, bool reasons, std::ostream& out) {
  if (!part.absence.empty()) {
    out << fmt::format("\n{}: not tested: {}\n", part.device, part.absence);
    return;
  }
  out << fmt::format("\n{}: {} {}\n", part.device, part.info.name, part.info.arch);
  write_matrix(part.matrix, reasons, out);
  write_timed(part.timed, reasons, out);
}

void write_selftest_json(const std::vector<DeviceSelftest>& parts, std::ostream& out) {
  const bool sound = std::ranges::all_of(parts, &DeviceSelftest::sound);
  Json devices = Json::array();
  for (const DeviceSelftest& part : parts) devices.push_back(part_json(part));
  out << Json{{"sound", sound}, {"devices", devices}}.dump(2) << '\n';
}

}  // namespace attnbench
