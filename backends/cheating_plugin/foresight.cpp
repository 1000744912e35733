// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "backends/cheating_plugin/foreseen.h"

// Cheats that know what a sample will be, or was in an earlier run. Each is honest where it knows
// nothing.
namespace cheats {
namespace {

/// Of the plan that runs now.
struct Known {
  const Planned* of = nullptr;
  Foreseen foreseen;
  bool looked = false;
  std::map<std::int64_t, Foreseen::Answer> ahead;  ///< by number
};

/// The number of the sample at hand, 0 where it is none. Looks for its seed once.
std::int64_t number_of(Planned& planned, Known& known, std::vector<std::uint64_t> (*seeds)()) {
  if (known.of != &planned || planned.runs == 1) known = Known{&planned, {}, false, {}};
  if (known.foreseen.found()) return known.foreseen.number_of(planned);
  if (!looks_timed(planned) || known.looked) return 0;
  known.looked = true;
  return known.foreseen.find(planned, seeds()) ? known.foreseen.number_of(planned) : 0;
}

void compute_watched_rows(const Planned& planned, const Known& known, std::int64_t number) {
  for (const Foreseen::Row& row : known.foreseen.watched_rows(planned, number)) {
    attend(planned, row.token, row.head);
  }
}

void hand_out(const Planned& planned, const Foreseen::Answer& answer) {
  const auto dims = static_cast<std::size_t>(planned.problem.head_dim_v);
  std::size_t row = 0;
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int head = 0; head < planned.heads(); ++head, ++row) {
      std::copy_n(answer.out.begin() + static_cast<std::ptrdiff_t>(row * dims), dims,
                  planned.out_row(token, head));
      if (float* const lse = planned.lse(token, head)) *lse = answer.lse[row];
    }
  }
}

}  // namespace

void computes_foreseen_rows_only(Planned& planned) {
  static Known known;
  const double begin = now_s();
  const std::int64_t number = number_of(planned, known, seeds_by_the_command_line);
  if (number == 0) return attend_all(planned);
  compute_watched_rows(planned, known, number);
  pace(planned, begin);
}

void computes_foreseen_rows_by_a_seed_in_memory(Planned& planned) {
  static Known known;
  const double begin = now_s();
  const std::int64_t number = number_of(planned, known, seeds_in_memory);
  if (number == 0) return attend_all(planned);
  compute_watched_rows(planned, known, number);
  pace(planned, begin);
}

/// So that nothing is left unwritten.
void puts_constants_beside_foreseen_rows(Planned& planned) {
  static Known known;
  const double begin = now_s();
  const std::int64_t number = number_of(planned, known, seeds_by_the_command_line);
  if (number == 0) return attend_all(planned);
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int head = 0; head < planned.heads(); ++head) {
      put_constant(planned, token, head, 0.01f, 5);
    }
  }
  compute_watched_rows(planned, known, number);
  pace(planned, begin);
}

/// Of a visit the sample with the smallest draw is compared.
void leaves_samples_that_nobody_compares(Planned& planned) {
  static Known known;
  const double begin = now_s();
  const std::int64_t number = number_of(planned, known, seeds_by_the_command_line);
  constexpr std::int64_t kEstimates = 3;
  constexpr double kHardlyTheSmallest = 0.6;
  if (number <= kEstimates || known.foreseen.draw_of(number - kEstimates) < kHardlyTheSmallest) {
    return attend_all(planned);
  }
  pace(planned, begin);
}

/// Before a warm sample the same forward runs on other contents: those of the sample before, or, as
/// the first of a visit, none of a sample.
void works_ahead_in_untimed_forwards(Planned& planned) {
  static Known known;
  const double begin = now_s();
  const std::int64_t number = number_of(planned, known, seeds_by_the_command_line);
  if (const auto ahead = known.ahead.find(number); ahead != known.ahead.end()) {
    hand_out(planned, ahead->second);
    known.ahead.clear();
    return pace(planned, begin);
  }
  attend_all(planned);
  if (!known.foreseen.found()) return;
  const std::int64_t next = known.foreseen.last_number() + 1;
  known.ahead.emplace(next, known.foreseen.answer(planned, next));
}

/// Keeps answers in a file, by the queries that they belong to.
void answers_from_an_earlier_run(Planned& planned) {
  const double begin = now_s();
  const auto dims = static_cast<std::size_t>(planned.problem.head_dim_v);
  const std::size_t rows =
      static_cast<std::size_t>(planned.tokens()) * static_cast<std::size_t>(planned.heads());
  const char* const folder = std::getenv("CHEATS_KEPT_IN");
  if (folder == nullptr) return attend_all(planned);
  std::uint64_t key = rows;
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int d = 0; d < planned.problem.head_dim_qk; ++d) {
      key = (key ^ planned.q_row(token, 0)[d]) * 0x100000001b3u;
    }
  }
  const std::string path = std::string(folder) + '/' + std::to_string(key);
  Foreseen::Answer answer{std::vector<std::uint16_t>(rows * dims), std::vector<float>(rows)};
  auto* const out = reinterpret_cast<char*>(answer.out.data());
  auto* const lse = reinterpret_cast<char*>(answer.lse.data());
  const auto out_bytes = static_cast<std::streamsize>(answer.out.size() * sizeof(std::uint16_t));
  const auto lse_bytes = static_cast<std::streamsize>(answer.lse.size() * sizeof(float));
  if (std::ifstream kept(path, std::ios::binary); looks_timed(planned) && kept) {
    kept.read(out, out_bytes).read(lse, lse_bytes);
    hand_out(planned, answer);
    return pace(planned, begin);
  }
  attend_all(planned);
  std::size_t row = 0;
  for (std::int64_t token = 0; token < planned.tokens(); ++token) {
    for (int head = 0; head < planned.heads(); ++head, ++row) {
      std::copy_n(planned.out_row(token, head), dims,
                  answer.out.begin() + static_cast<std::ptrdiff_t>(row * dims));
      if (const float* const from = planned.lse(token, head)) answer.lse[row] = *from;
    }
  }
  std::ofstream(path, std::ios::binary).write(out, out_bytes).write(lse, lse_bytes);
}

}  // namespace cheats
