// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/backend.h"
#include "lib/fixture/sample_io.h"
#include "lib/scenario/scenario.h"
#include "lib/verify/observation.h"
#include "lib/verify/verdict.h"
#include "reference/oracle.h"

namespace attnbench {

/// The truth about a case under each fill, computed once and shared by all backends. Of a pipeline
/// only which rows are compared: their values are computed for each backend (own_lists.h).
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

/// What comparing the watched rows of a timed sample with the reference found.
struct SampleError {
  std::string fault;          ///< empty when they are right
  double squared_ratios = 0;  ///< sum of (error / sigma)^2 over the elements of O (error_model.h)
  std::int64_t elements = 0;
  std::int64_t rows = 0;

  /// Of several samples of one backend, that together tell more than each.
  void add(const SampleError& other);
  /// As ErrorMetrics::rms_ratio; of fewer rows than tell anything 0.
  [[nodiscard]] double rms_ratio() const;
};

/// `rows` are SampleIo::collected() of contents `number`, the reference is evaluated here. Of
/// contexts beyond 64k keys fewer rows are compared, since each costs the reference all of its
/// keys.
[[nodiscard]] SampleError error_of_sample(const Case& c, const Numerics& numerics,
                                          std::int64_t number, std::span<const std::byte> rows);

/// The same of a case's steps, whose rows follow each other. One `numerics` a step.
[[nodiscard]] SampleError error_of_sample(const Case& c, std::span<const Numerics> numerics,
                                          std::int64_t number, std::span<const std::byte> rows);

/// Says what a sample of a step left unwritten; empty when that is nothing, or an LSE that the
/// backend does not claim to write.
[[nodiscard]] std::string fault_of_unwritten(const Case& step, const Numerics& numerics,
                                             const SampleIo::Unwritten& unwritten);

// Limits of ErrorMetrics::rms_ratio. A correct kernel shows about 1.4 at every length; one lost
// page of a long context shows 13 and more.
inline constexpr double kMistrustedRms = 3;
inline constexpr double kIncorrectRms = 5;

/// What is wrong with, or odd about, such a ratio of data of this kind.
[[nodiscard]] std::string text_of_rms(double ratio, std::string_view data);

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

/// Says why a backend is not blamed for damage; `repeated` is the "run" or "visit" that was.
[[nodiscard]] std::string text_of_odd_damage(std::string_view damage, std::string_view repeated);

/// observe_backend() and conclude() in one process.
[[nodiscard]] Verification verify_backend(const Case& c, Backend& backend, Fixture& fixture,
                                          Device& device, std::span<const FillTruth> truth);

/// Bounds follow from what a backend declares, so that a backend could widen its own until any
/// result passes. Null candidates are results that nobody has to compute attention for: zeros, the
/// mean of V, the newest key only, the newer half of the keys, every sixth key. This function
/// judges them as if the backend had given them, with their LSEs where it declares any, and returns
/// why agreement with bounds so wide proves nothing: "zeros would pass: partial results declared in
/// e5m2, rounded 8 times, make the bounds as wide as the result". Empty when every candidate fails.
///
/// A candidate that also passes where nothing but the outputs is rounded below f32 is the case's
/// own answer (of one visible key all but zeros are) and says nothing about the declaration. Of
/// recurrent layers there are zeros only.
///
/// Most candidates fail on the first row that is looked at: the one that sees most keys, on normal
/// data. Only one that passes that row on every fill is evaluated on all rows.
[[nodiscard]] std::string passing_null_candidate(const Case& c, const Numerics& declared,
                                                 std::span<const FillTruth> truth);

}  // namespace attnbench
