// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attnbench {

/// What is known about a cell's correctness. Ordered by weight.
enum class Verdict : std::uint8_t {
  kNotVerified,  ///< verification was switched off
  kPassed,
  kMistrusted,  ///< agrees, but the agreement proves little; the reason says why
  kIncorrect,
  kUnsupported,  ///< the backend says it does not do this case
  kSkipped,      ///< not run: interrupted, filtered, or absent
  kCrashed,      ///< threw; the reason holds its message
};

[[nodiscard]] std::string_view to_string(Verdict verdict);  ///< "passed", "INCORRECT", …
[[nodiscard]] bool is_failure(Verdict verdict);             ///< kIncorrect or kCrashed

/// Where the worst element is.
struct WorstElement {
  std::int64_t request = -1;
  std::string group;
  std::int64_t token = -1;  ///< query token within the request
  int head = -1;            ///< query head
  int dim = -1;             ///< -1: the LSE
  std::int64_t page = -1;   ///< pool page of the query token's own key
  double got = 0;
  double want = 0;
  int state_row = -1;  ///< key dim of a recurrent layer's state; -1: the output
};

/// Error of one backend on one case, the worst over all fills. NaN outputs make every figure NaN or
/// inf, never small.
struct ErrorMetrics {
  double max_abs = 0;
  double max_abs_over_rms = 0;  ///< max_abs / RMS(reference)
  double nmse = 0;              ///< sum (o - ref)^2 / sum (ref^2 + 500 sigma^2)
  double bound_ratio = 0;       ///< worst err / bound; <= 1 passes
  double rms_ratio = 0;        ///< RMS of err / sigma; <= 3 passes, 3-5 mistrusted, above incorrect
  double lse_abs = -1;         ///< worst |lse - ref|; -1: none was compared
  double lse_bound_ratio = 0;  ///< worst |lse - ref| / bound; <= 1 passes
  std::int64_t rows = 0;       ///< rows compared, all fills
  std::int64_t non_finite = 0;  ///< NaN or wrongly infinite elements
  std::string fill;             ///< fill of the worst bound_ratio
  WorstElement worst;
  double zero_share = 0;  ///< zeros among the outputs on random data, 0 to 1
};

/// Properties that need no reference: equal bits of the outputs, and of the states that a recurrent
/// layer leaves, or not. -1 not tested, 0 no, 1 yes.
struct BitwiseProperties {
  int repeatable = -1;                  ///< two runs into differently poisoned outputs
  int page_permutation_invariant = -1;  ///< the same batch on other pages
  int batch_invariant = -1;  ///< a request alone gives the bits it gives inside the batch
};

}  // namespace attnbench
