// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backends/cheating_plugin/cheats.h"
#include "lib/contents/content_rows.h"

namespace cheats {

/// What attnbench's public source says of the timed samples of a case whose seed is known, and of
/// which a nonce is not: contents are a function of seed and number.
class Foreseen {
 public:
  /// Which of `case_seeds` made the queries that are there now, as the sample of which number.
  /// Nothing where it is none of the first few.
  [[nodiscard]] bool find(const Planned& planned, const std::vector<std::uint64_t>& case_seeds);
  [[nodiscard]] bool found() const { return number_ > 0; }
  [[nodiscard]] std::int64_t last_number() const { return number_; }
  /// Of the sample whose queries are there now; 0: of no sample.
  [[nodiscard]] std::int64_t number_of(const Planned& planned);
  /// Order statistic by which a sample of a cell's visit is kept, as a share of all: 0 to 1.
  [[nodiscard]] double draw_of(std::int64_t ordinal) const;

  struct Row {
    std::int64_t token = 0;
    int head = 0;
  };
  /// Those that are compared with the reference.
  [[nodiscard]] std::vector<Row> watched_rows(const Planned& planned, std::int64_t number) const;

  struct Answer {
    std::vector<std::uint16_t> out;  ///< rows by token and head
    std::vector<float> lse;
  };
  /// All of a sample's outputs, computed without reading any input.
  [[nodiscard]] Answer answer(const Planned& planned, std::int64_t number) const;

 private:
  std::uint64_t case_seed_ = 0;
  std::int64_t number_ = 0;  ///< the last one that was seen
};

/// Every word of the run's command line and of its scenario as a mix, with every number there as a
/// seed.
[[nodiscard]] std::vector<std::uint64_t> seeds_by_the_command_line();
/// Every word of this process's memory.
[[nodiscard]] std::vector<std::uint64_t> seeds_in_memory();

}  // namespace cheats
