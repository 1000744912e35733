// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/inspect/accuracy_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "lib/base/printable.h"
#include "lib/view/json.h"
#include "lib/view/table.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

std::string data_text(const AccuracyData& data) {
  return data.outlier_factor == 1 ? "normal numbers"
                                  : fmt::format("two of each 128 channels of K are {} times larger",
                                                three_digits(data.outlier_factor));
}

std::string distance_text(double value) { return value == 0 ? "0" : fmt::format("{:.1e}", value); }

}  // namespace

void write_accuracy_table(const AccuracyReport& report, std::ostream& out) {
  const AttentionLayer& layer = report.layer;
  const AccuracyData& first = report.sections.front().data;
  out << fmt::format(
      "{}, {} layer, tp {}: {} query heads, {} KV heads, dk {} dv {}\n"
      "the last {} of {} tokens, seed {}; each format against the same numbers in bf16, both "
      "evaluated in float64\n",
      printable(report.model), report.layer_kind, report.tp, layer.heads_q, layer.heads_kv,
      layer.head_dim_qk, layer.head_dim_v, first.queries, first.keys, first.seed);
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  for (const AccuracySection& section : report.sections) {
    Table table{.columns = {{"cache", kLeft, 2, 35},
                            {"B a token", kRight, 1, 9},
                            {"1 - cosine", kRight, 2, 10},
                            {"worst", kRight, 1, 9},
                            {"NMSE", kRight, 1, 9},
                            {"LSE", kRight, 1, 9},
                            {"top-1", kRight, 1, 7}}};
    for (const auto& [stored, accuracy] : section.rows) {
      table.rows.push_back(
          {{stored.name(), fmt::format("{:g}", accuracy.bytes_per_token),
            distance_text(std::max(1 - accuracy.cosine_mean, 0.0)),
            distance_text(std::max(1 - accuracy.cosine_min, 0.0)), distance_text(accuracy.nmse),
            distance_text(accuracy.lse_max), fmt::format("{:.1f} %", 100 * accuracy.top1)}});
    }
    out << '\n' << data_text(section.data) << '\n' << terminal_text(table);
  }
  out << "\n1 - cosine: of rows of the output, their mean and the worst; LSE: largest difference; "
         "top-1: rows whose largest\nlogit is the same key's\n";
}

void write_accuracy_json(const AccuracyReport& report, std::ostream& out) {
  Json rows = Json::array();
  for (const AccuracySection& section : report.sections) {
    for (const auto& [stored, accuracy] : section.rows) {
      rows.push_back(
          {{"outlier_factor", section.data.outlier_factor},
           {"cache", stored.name()},
           {"dtype", to_string(stored.dtype)},
           {"scales", to_string(stored.scales)},
           {"calibrated", stored.calibrated},
           {"q_dtype", stored.queries ? Json(to_string(*stored.queries)) : Json(nullptr)},
           {"bytes_per_token", accuracy.bytes_per_token},
           {"cosine_mean", accuracy.cosine_mean},
           {"cosine_min", accuracy.cosine_min},
           {"nmse", accuracy.nmse},
           {"lse_max", accuracy.lse_max},
           {"top1", accuracy.top1}});
    }
  }
  const AccuracyData& data = report.sections.front().data;
  out << Json{{"model", report.model}, {"layer_kind", report.layer_kind}, {"tp", report.tp},
              {"keys", data.keys},     {"queries", data.queries},         {"seed", data.seed},
              {"rows", rows}}
             .dump(2)
      << '\n';
}

}  // namespace attnbench
