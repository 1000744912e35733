// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/fixture/sample_io.h"
#include "lib/fixture/written_slots.h"
#include "lib/parts/part_arrays.h"
#include "lib/verify/error_model.h"
#include "lib/verify/likely_cause.h"
#include "lib/verify/own_lists.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

/// Of noise, in the power that squared errors are held against: noise of five sigma, the most that
/// judge() lets pass, is then its limit of 0.05. Outputs that cancel have no power: the mean of
/// tags over their whole period is 0, so that the relative error of any rounding would be infinite.
constexpr double kNoiseShare = 25 / 0.05;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The larger, where NaN is larger than anything: std::max would let it vanish.
double worse(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::numeric_limits<double>::quiet_NaN();
  return std::max(a, b);
}

/// Errors of one fill, walked row by row.
class FillErrors {
 public:
  FillErrors(const Case& c, Fill fill, const Numerics& numerics, ErrorMetrics& error)
      : case_(&c),
        fill_(fill),
        model_(c, numerics),
        with_lse_(numerics.lse && !c.layer.is_recurrent()),
        error_(&error) {}

  /// Bytes of a row of O with its LSE, if the layer has one, behind it; or of a row of a state.
  [[nodiscard]] static std::int64_t row_bytes(const Case& c, int state_row) {
    const std::int64_t f32 = size_bytes(DType::kF32);
    if (state_row >= 0) return c.layer.head_dim_v * f32;
    return c.layer.head_dim_v * size_bytes(c.out_dtype()) + (c.layer.is_recurrent() ? 0 : f32);
  }

  /// `out` is row_bytes() long; the query token's own key lies in `page`.
  void compare(const ReferenceRow& reference, const std::byte* out, std::int64_t page) {
    const ErrorModel::Row row = model_.row(reference);
    const bool of_state = reference.id.state_row >= 0;
    const DType dtype = of_state ? DType::kF32 : case_->out_dtype();
    const double scale = of_state ? 1 : static_cast<double>(case_->out_scale);
    page_ = page;
    for (std::size_t d = 0; d < reference.out.size(); ++d) {
      const double got =
          scale * load(dtype, out + static_cast<std::int64_t>(d) * size_bytes(dtype));
      compare_element(reference, row, d, got);
    }
    ++error_->rows;
    if (!with_lse_) return;
    const std::byte* const lse = out + row_bytes(*case_, -1) - size_bytes(DType::kF32);
    compare_lse(reference, row, load(DType::kF32, lse));
  }

  /// Rows outside the sample have no reference, but an output that was never written is still
  /// found, because it holds poison.
  void add_elsewhere(const FillOutputs& outputs) {
    if (outputs.non_finite_elsewhere == 0) return;
    if (error_->non_finite == 0) {
      error_->fill = to_string(fill_);
      error_->worst = outputs.first_elsewhere;
    }
    error_->non_finite += outputs.non_finite_elsewhere;
    fail();
  }

  /// Of all elements so far.
  void add_noise_to(SampleError& found) const {
    found.squared_ratios += sum_ratio_;
    found.elements += elements_;
  }

  /// Folds the sums of this fill into the metrics.
  void finish() {
    error_->max_abs = worse(error_->max_abs, max_abs_);
    if (elements_ == 0) return;
    const auto count = static_cast<double>(elements_);
    const auto ratio = [](double error, double size) {
      return error == 0 ? 0.0 : error / size;  // size 0: infinite, as it should be
    };
    error_->max_abs_over_rms =
        worse(error_->max_abs_over_rms, ratio(max_abs_, std::sqrt(sum_reference_ / count)));
    // Tags may average to zeros, beside which any rounding is large: bounds, which are a small part
    // of a tag, decide there.
    if (fill_ != Fill::kTag) {
      error_->nmse =
          worse(error_->nmse, ratio(sum_error_, sum_reference_ + kNoiseShare * sum_noise_));
    }
    // Planted data leave most weights at zero and make sigma meaningless.
    if (fill_ == Fill::kNormal || fill_ == Fill::kTiming) {
      error_->rms_ratio = worse(error_->rms_ratio, std::sqrt(sum_ratio_ / count));
      error_->zero_share = std::max(error_->zero_share, static_cast<double>(zeros_) / count);
    }
  }

 private:
  /// Whether agreement says anything about a sum: a row that sees no key is zero to the bit.
  [[nodiscard]] bool has_sum(const ReferenceRow& reference) const {
    return case_->layer.is_recurrent() || reference.visible > 0;
  }

  void compare_element(const ReferenceRow& reference, const ErrorModel::Row& row, std::size_t d,
                       double got) {
    const double want = model_.saturated(reference.out[d]);
    expects(std::isfinite(want) && std::isfinite(reference.a[d]), "the reference is not finite");
    const int dim = static_cast<int>(d);
    const double err = std::fabs(got - want);
    if (has_sum(reference)) {
      ++elements_;
      zeros_ += got == 0 ? 1 : 0;
    }
    max_abs_ = worse(max_abs_, err);
    sum_error_ += err * err;
    sum_reference_ += want * want;
    if (!std::isfinite(got)) {
      note_non_finite(reference.id, dim, got, want);
      sum_ratio_ = kInfinity;
      return;
    }
    const double sigma = ErrorModel::sigma(row, want, reference.a[d], reference.b[d]);
    sum_noise_ += sigma * sigma;
    if (err > 0) sum_ratio_ += err / sigma * (err / sigma);
    // A request without tokens leaves its state as it was, to the bit.
    const double ratio = err == 0 ? 0 : err / ErrorModel::bound(row, want, reference.a[d]);
    note(reference.id, dim, got, want, ratio);
    error_->bound_ratio = worse(error_->bound_ratio, ratio);
  }

  void compare_lse(const ReferenceRow& reference, const ErrorModel::Row& row, double got) {
    const double want = reference.lse;
    expects(!std::isnan(want) && want < kInfinity, "the reference LSE is not finite");
    if (want == -kInfinity && got == -kInfinity) return;
    if (!std::isfinite(got) || !std::isfinite(want)) {
      note_non_finite(reference.id, -1, got, want);
      error_->lse_abs = error_->lse_bound_ratio = kInfinity;
      return;
    }
    const double err = std::fabs(got - want);
    const double ratio = err / row.lse_bound;
    note(reference.id, -1, got, want, ratio);
    error_->lse_abs = worse(error_->lse_abs, err);
    error_->lse_bound_ratio = worse(error_->lse_bound_ratio, ratio);
  }

  void note_non_finite(const RowId& id, int dim, double got, double want) {
    // Only the first one is reported.
    if (error_->non_finite++ == 0) locate(id, dim, got, want);
    fail();
  }

  void fail() {
    max_abs_ = error_->bound_ratio = kInfinity;
    error_->max_abs_over_rms = error_->nmse = error_->rms_ratio = kInfinity;
  }

  /// Keeps the element with the largest ratio of error to bound over all fills.
  void note(const RowId& id, int dim, double got, double want, double ratio) {
    const double so_far = std::max(error_->bound_ratio, error_->lse_bound_ratio);
    if (error_->worst.request < 0 || ratio > so_far) locate(id, dim, got, want);
  }

  void locate(const RowId& id, int dim, double got, double want) {
    const auto r = static_cast<std::size_t>(id.request);
    error_->fill = to_string(fill_);
    error_->worst = {
        id.request,  case_->requests[r].group, id.token, id.head, dim, page_, got, want,
        id.state_row};
  }

  const Case* case_;
  Fill fill_;
  ErrorModel model_;
  bool with_lse_;
  ErrorMetrics* error_;
  std::int64_t page_ = -1;  ///< of the row being compared
  double max_abs_ = 0, sum_error_ = 0, sum_reference_ = 0, sum_noise_ = 0, sum_ratio_ = 0;
  std::int64_t elements_ = 0, zeros_ = 0;
};

/// The row of a batch's output as the reference names it.
RowId row_id(const Case& c, const OutputRow& row) {
  std::int64_t first = 0;
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    const std::int64_t q_len = c.requests[r].q_len;
    if (row.token < first + q_len) {
      const bool of_step = row.state_row >= 0 && c.mode != ForwardMode::kTargetVerify;
      return {static_cast<std::int64_t>(r), of_step ? 0 : row.token - first, row.head,
              row.state_row};
    }
    first += q_len;
  }
  throw InternalError("a row beyond the batch");
}

/// Of watched rows of O and their LSEs.
SampleError error_of_outputs(const Case& c, const Numerics& numerics, std::int64_t number,
                             std::span<const OutputRow> watched, std::span<const std::byte> rows) {
  constexpr std::int64_t kMostKeys = 1 << 18;
  std::int64_t longest = 1;
  for (const Request& request : c.requests) longest = std::max(longest, request.kv_len);
  const auto count = static_cast<std::size_t>(std::min(
      std::max<std::int64_t>(kMostKeys / longest, 1), static_cast<std::int64_t>(watched.size())));
  if (count == 0) return {};
  std::vector<RowId> ids;
  for (const OutputRow& row : watched.first(count)) ids.push_back(row_id(c, row));

  ErrorMetrics error;
  FillErrors errors(c, Fill::kSample, numerics, error);
  FillTruth truth{Fill::kSample, reference::evaluate_rows(c, Contents(c, number), ids)};
  const std::span<const std::byte> all = rows;
  for (std::size_t i = 0; i < count; ++i) {
    errors.compare(truth.rows[i], rows.data(), -1);
    rows = rows.subspan(to_size(FillErrors::row_bytes(c, watched[i].state_row)));
  }
  errors.finish();
  SampleError found;
  found.rows = static_cast<std::int64_t>(count);
  errors.add_noise_to(found);
  const Verification judged = judge(c, error, std::span(&truth, 1));
  if (judged.verdict == Verdict::kIncorrect) {
    found.fault = judged.reason + cause_of_worst(c, Contents(c, number), numerics, error.worst,
                                                 truth.rows, all.first(all.size() - rows.size()))
                                      .value_or("");
  }
  return found;
}

/// The error of watched rows whose lists, and what else is looked at, are `arrays`. An earlier
/// stage explains what a later one made of it.
SampleError error_of_pipeline(const Case& c, const Numerics& numerics, std::int64_t number,
                              std::span<const OutputRow> watched,
                              std::span<const std::byte> outputs,
                              std::span<const std::byte> arrays) {
  std::vector<std::int32_t> lists(
      watched.size() * to_size(c.layer.selection_groups() * c.layer.selection.columns()));
  const std::size_t bytes = lists.size() * sizeof(std::int32_t);
  expects(arrays.size() >= bytes, "a timed sample left fewer lists than watched rows");
  if (!lists.empty()) std::memcpy(lists.data(), arrays.data(), bytes);
  std::string fault = fault_of_watched_arrays(c, number, arrays.subspan(bytes));
  if (!fault.empty()) return {.fault = std::move(fault)};
  std::vector<RowId> rows;
  for (const OutputRow& row : watched) rows.push_back(row_id(c, row));
  return error_of_outputs(over_lists(c, rows, lists), numerics, number, watched, outputs);
}

}  // namespace

void accumulate_error(const Case& c, const FillOutputs& outputs, const FillTruth& truth,
                      const Numerics& numerics, ErrorMetrics& error) {
  std::int64_t bytes = 0;
  for (const ReferenceRow& row : truth.rows) bytes += FillErrors::row_bytes(c, row.id.state_row);
  expects(std::ssize(outputs.rows) == bytes && outputs.pages.size() == truth.rows.size(),
          "other rows than those that were asked for");
  FillErrors errors(c, truth.fill, numerics, error);
  const std::byte* rows = outputs.rows.data();
  for (std::size_t i = 0; i < truth.rows.size(); ++i) {
    errors.compare(truth.rows[i], rows, outputs.pages[i]);
    rows += FillErrors::row_bytes(c, truth.rows[i].id.state_row);
  }
  errors.add_elsewhere(outputs);
  errors.finish();
}

void SampleError::add(const SampleError& other) {
  if (fault.empty()) fault = other.fault;
  squared_ratios += other.squared_ratios;
  elements += other.elements;
  rows += other.rows;
}

double SampleError::rms_ratio() const {
  // Rows of two samples: of one the errors may have one cause, the rounding of its largest weight.
  constexpr std::int64_t kEnoughRows = 8;
  if (rows < kEnoughRows || elements == 0) return 0;
  return std::sqrt(squared_ratios / static_cast<double>(elements));
}

SampleError error_of_sample(const Case& c, const Numerics& numerics, std::int64_t number,
                            std::span<const std::byte> rows) {
  if (builds(c.step) && !attends(c.step) && !writes_index(c.step)) {
    return {.fault = fault_of_watched_arrays(c, number, rows)};
  }
  const std::vector<OutputRow> watched = watched_rows(c, number);
  std::int64_t bytes = 0;
  for (const OutputRow& row : watched) bytes += FillErrors::row_bytes(c, row.state_row);
  expects(std::ssize(rows) >= bytes, "a timed sample left other rows than those that are watched");
  const std::span<const std::byte> outputs = rows.first(to_size(bytes));
  const std::vector<WrittenRow> written = watched_written_rows(c, number);
  bytes = bytes_of(c, written);
  rows = rows.subspan(outputs.size());
  expects(std::ssize(rows) >= bytes, "a timed sample left other rows than those that were written");
  const std::span<const std::byte> slots = rows.first(to_size(bytes));
  // What was written explains what attention made of it.
  std::string of_slots = fault_of_written_rows(c, Contents(c, number), written, slots);
  if (!of_slots.empty()) return {.fault = std::move(of_slots)};
  if (!is_pipeline(c.step)) return error_of_outputs(c, numerics, number, watched, outputs);
  return error_of_pipeline(c, numerics, number, watched, outputs, rows.subspan(slots.size()));
}

SampleError error_of_sample(const Case& c, std::span<const Numerics> numerics, std::int64_t number,
                            std::span<const std::byte> rows) {
  const std::span<const Case> steps = steps_of(c);
  expects(numerics.size() == steps.size(), "numerics of other steps");
  SampleError found;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    // A composed step writes no cache: outputs are all that it leaves.
    std::size_t bytes = rows.size();
    if (i + 1 < steps.size()) {
      bytes = watched_rows(steps[i], number).size() * to_size(FillErrors::row_bytes(steps[i], -1));
    }
    expects(bytes <= rows.size(), "a timed sample of a composed step left too few rows");
    found.add(error_of_sample(steps[i], numerics[i], number, rows.first(bytes)));
    if (!found.fault.empty()) return found;
    rows = rows.subspan(bytes);
  }
  return found;
}

std::string fault_of_unwritten(const Case& step, const Numerics& numerics,
                               const SampleIo::Unwritten& unwritten) {
  const auto place = [&](std::int64_t row) {
    const std::int64_t heads = step.layer.heads_out();
    const RowId id = row_id(step, {row / heads, static_cast<int>(row % heads), -1});
    return fmt::format("first of request {}, head {}, query {}", id.request, id.head, id.token);
  };
  if (unwritten.out > 0) {
    return fmt::format("{} element{} of O {} not written, {}", unwritten.out,
                       unwritten.out == 1 ? "" : "s", unwritten.out == 1 ? "was" : "were",
                       place(unwritten.first_out));
  }
  if (unwritten.lse > 0 && numerics.lse && !step.layer.is_recurrent()) {
    return fmt::format("the LSE of {} row{} was not written, {}", unwritten.lse,
                       unwritten.lse == 1 ? "" : "s", place(unwritten.first_lse));
  }
  return {};
}

}  // namespace attnbench
