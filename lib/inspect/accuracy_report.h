// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "lib/inspect/format_accuracy.h"

namespace attnbench {

struct AccuracyRow {
  StoredAs stored;
  FormatAccuracy accuracy;
};

/// What each way to store a layer's cache costs, on one sort of data.
struct AccuracySection {
  AccuracyData data;
  std::vector<AccuracyRow> rows;
};

struct AccuracyReport {
  std::string model, layer_kind;
  int tp = 1;
  AttentionLayer layer;
  std::vector<AccuracySection> sections;
};

void write_accuracy_table(const AccuracyReport& report, std::ostream& out);
void write_accuracy_json(const AccuracyReport& report, std::ostream& out);

}  // namespace attnbench
