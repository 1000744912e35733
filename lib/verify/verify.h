// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "lib/backend/backend.h"
#include "lib/fixture/fixture.h"
#include "lib/scenario/scenario.h"
#include "lib/verify/verdict.h"
#include "reference/oracle.h"

namespace attnbench {

/// The truth about a case under each fill, computed once and shared by all backends.
struct FillTruth {
  Fill fill = Fill::kNormal;
  std::vector<ReferenceRow> rows;
};

[[nodiscard]] std::vector<FillTruth> compute_truth(const Case& c, const VerifyConfig& config);

struct Verification {
  Verdict verdict = Verdict::kNotVerified;
  std::string reason;  ///< empty when passed
  ErrorMetrics error;
  BitwiseProperties bitwise;
};

/// Compares the outputs in `fixture` with the truth of one fill and folds the result into `error`.
/// Bounds follow the backend's declared numerics (error_model.h). From a GPU only the rows of the
/// truth and those that are not finite are copied.
void accumulate_error(const Case& c, const Fixture& fixture, const FillTruth& truth,
                      const Numerics& numerics, ErrorMetrics& error);

/// Why what a timed sample left in its watched rows is wrong; empty when it is right. `rows` are
/// SampleIo::collected() of contents `number`, the reference is evaluated here. Of contexts beyond
/// 64k keys fewer rows are compared, since each costs the reference all of its keys.
[[nodiscard]] std::string fault_of_sample(const Case& c, const Numerics& numerics,
                                          std::int64_t number, std::span<const std::byte> rows);

/// The verdict that the metrics deserve, with its reason (Verdict).
[[nodiscard]] Verification judge(const Case& c, const ErrorMetrics& error,
                                 std::span<const FillTruth> truth);

/// Runs `backend` on every fill of `truth` in `fixture` (poisoned outputs, guards and inputs
/// re-checked after each run), compares, tests the bitwise properties on the normal data, and
/// judges. Exceptions of the backend become kCrashed. Leaves the fixture filled with the last fill.
[[nodiscard]] Verification verify_backend(const Case& c, Backend& backend, Fixture& fixture,
                                          Device& device, std::span<const FillTruth> truth);

}  // namespace attnbench
