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
#include "lib/verify/observation.h"
#include "lib/verify/verdict.h"
#include "reference/oracle.h"

namespace attnbench {

/// The truth about a case under each fill, computed once and shared by all backends.
struct FillTruth {
  Fill fill = Fill::kNormal;
  std::vector<ReferenceRow> rows;
};

[[nodiscard]] std::vector<FillTruth> compute_truth(const Case& c, const VerifyConfig& config);

/// The truth of each of the steps of a case (steps_of()).
using StepTruths = std::vector<std::vector<FillTruth>>;
[[nodiscard]] StepTruths compute_step_truths(const Case& c, const VerifyConfig& config);

struct Verification {
  Verdict verdict = Verdict::kNotVerified;
  std::string reason;  ///< empty when passed
  ErrorMetrics error;
  BitwiseProperties bitwise;
  std::int64_t slots_checked = 0;  ///< that the step wrote, over all runs
  double first_use_us = 0;         ///< of Observation
  std::string kernel;              ///< of Observation
};

/// The fills and rows of `truth`, without their values.
[[nodiscard]] WantedRows wanted_rows(std::span<const FillTruth> truth);

/// The same of all steps of a case, each of which is tried in so many compositions.
[[nodiscard]] WantedRows wanted_rows(const StepTruths& truths, int compositions);

/// Compares `outputs`, of the rows of `truth`, with the truth of one fill and folds the result into
/// `error`. Bounds follow the backend's declared numerics (error_model.h).
void accumulate_error(const Case& c, const FillOutputs& outputs, const FillTruth& truth,
                      const Numerics& numerics, ErrorMetrics& error);

/// Why the watched rows of a timed sample are wrong; empty when they are right. `rows` are
/// SampleIo::collected() of contents `number`, the reference is evaluated here. Of contexts beyond
/// 64k keys fewer rows are compared, since each costs the reference all of its keys.
[[nodiscard]] std::string fault_of_sample(const Case& c, const Numerics& numerics,
                                          std::int64_t number, std::span<const std::byte> rows);

/// The same of a case's steps, whose rows follow each other. One `numerics` a step.
[[nodiscard]] std::string fault_of_sample(const Case& c, std::span<const Numerics> numerics,
                                          std::int64_t number, std::span<const std::byte> rows);

/// The verdict that follows from the metrics, with its reason.
[[nodiscard]] Verification judge(const Case& c, const ErrorMetrics& error,
                                 std::span<const FillTruth> truth);

/// Compares what was observed with the truth that its wanted rows were made of, and judges. A
/// backend that threw is kCrashed.
[[nodiscard]] Verification conclude(const Case& c, const Observation& observed,
                                    std::span<const FillTruth> truth);

/// The same of all steps of a case: of several the worst verdict, its reason with the part's name,
/// and the figures of the part whose errors come closest to their bounds.
[[nodiscard]] Verification conclude(const Case& c, const Observation& observed,
                                    const StepTruths& truths);

/// observe_backend() and conclude() in one process.
[[nodiscard]] Verification verify_backend(const Case& c, Backend& backend, Fixture& fixture,
                                          Device& device, std::span<const FillTruth> truth);

}  // namespace attnbench
