// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "lib/contents/contents.h"
#include "lib/parts/select_part.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// What the logits of a row are made of, in float64.
class ExactRow {
 public:
  ExactRow(const Contents& contents, const Case& c, const ScoreRow& row);

  struct Logit {
    double value = 0, bound = 0;
    bool is_least = false;  ///< any larger one is right, too
  };
  /// The exact logit of a unit, and how far another one may lie from it.
  [[nodiscard]] Logit of_unit(std::int64_t number) const;

 private:
  [[nodiscard]] Logit of_row(std::int64_t number) const;
  [[nodiscard]] Logit of_keys(std::int64_t number) const;
  [[nodiscard]] Logit of_representation(std::int64_t number) const;
  [[nodiscard]] Logit of_label(std::int64_t key) const;

  const Contents* contents_;
  const Case* case_;
  ScoreRow row_;
  int first_head_ = 0;           ///< of `heads`
  std::vector<double> q_;        ///< [heads, dim]
  std::vector<double> weights_;  ///< [heads]
  double size_ = 0;              ///< sum of |weight| |q|
};

}  // namespace attnbench
