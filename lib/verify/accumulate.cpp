// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "lib/base/error.h"
#include "lib/fixture/sample_io.h"
#include "lib/verify/error_model.h"
#include "lib/verify/verify.h"

namespace attnbench {
namespace {

/// Of noise, in the power that squared errors are held against: noise of five sigma, the most that
/// judge() lets pass, is then its limit of 0.05. Outputs that cancel have no power of their own:
/// the mean of tags over their whole period is 0, and any rounding would be infinitely wrong.
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
  /// `outputs` are readable by the host. Without a `batch` no page is named.
  FillErrors(const Case& c, const AttentionTensors& outputs, const ForwardBatch* batch, Fill fill,
             const Numerics& numerics, ErrorMetrics& error)
      : case_(&c),
        outputs_(&outputs),
        batch_(batch),
        fill_(fill),
        model_(c, numerics),
        error_(&error) {
    std::int64_t first = 0;
    for (const Request& request : c.requests) {
      first_token_.push_back(first);
      first += request.q_len;
    }
    first_token_.push_back(first);
  }

  void compare(const ReferenceRow& reference) {
    const std::int64_t token =
        first_token_[static_cast<std::size_t>(reference.id.request)] + reference.id.token;
    compare(reference, outputs_->out.row(token, reference.id.head),
            outputs_->lse.row(token, reference.id.head));
  }

  /// With the row and its LSE at these addresses.
  void compare(const ReferenceRow& reference, const std::byte* out, const std::byte* lse) {
    const ErrorModel::Row row = model_.row(reference);
    for (std::size_t d = 0; d < reference.out.size(); ++d) {
      const double got =
          load(case_->dtype, out + static_cast<std::int64_t>(d) * size_bytes(case_->dtype));
      compare_element(reference, row, d, got);
    }
    compare_lse(reference, row, load(DType::kF32, lse));
    ++error_->rows;
  }

  /// Rows outside the sample have no reference, but a poisoned output that was never written shows
  /// all the same. `rows` are all that may be non-finite.
  void scan_unsampled(std::span<const ReferenceRow> sampled, std::span<const OutputRow> rows) {
    std::vector<bool> seen(static_cast<std::size_t>(first_token_.back() * case_->layer.heads_q));
    const auto index = [&](std::int64_t token, int head) {
      return static_cast<std::size_t>(token * case_->layer.heads_q + head);
    };
    for (const ReferenceRow& each : sampled) {
      seen[index(first_token_[static_cast<std::size_t>(each.id.request)] + each.id.token,
                 each.id.head)] = true;
    }
    for (const OutputRow& row : rows) {
      if (!seen[index(row.token, row.head)]) scan_row(row);
    }
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
    error_->nmse =
        worse(error_->nmse, ratio(sum_error_, sum_reference_ + kNoiseShare * sum_noise_));
    // Planted data leave most weights at zero and make sigma meaningless.
    if (fill_ == Fill::kNormal || fill_ == Fill::kTiming) {
      error_->rms_ratio = worse(error_->rms_ratio, std::sqrt(sum_ratio_ / count));
      error_->zero_share = std::max(error_->zero_share, static_cast<double>(zeros_) / count);
    }
  }

 private:
  void compare_element(const ReferenceRow& reference, const ErrorModel::Row& row, std::size_t d,
                       double got) {
    const double want = reference.out[d];
    expects(std::isfinite(want) && std::isfinite(reference.a[d]), "the reference is not finite");
    const int dim = static_cast<int>(d);
    const double err = std::fabs(got - want);
    ++elements_;
    zeros_ += got == 0 ? 1 : 0;
    max_abs_ = worse(max_abs_, err);
    sum_error_ += err * err;
    sum_reference_ += want * want;
    if (!std::isfinite(got)) {
      note_non_finite(reference.id, dim, got, want);
      sum_ratio_ = kInfinity;
      return;
    }
    const double sigma = model_.sigma(row, want, reference.a[d], reference.b[d]);
    sum_noise_ += sigma * sigma;
    sum_ratio_ += err / sigma * (err / sigma);
    const double ratio = err / model_.bound(row, want, reference.a[d]);
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

  void scan_row(const OutputRow& row) {
    const auto next = std::ranges::upper_bound(first_token_, row.token);
    const RowId id{next - first_token_.begin() - 1, row.token - *(next - 1), row.head};
    const std::byte* const out = outputs_->out.row(row.token, id.head);
    const std::int64_t step = size_bytes(outputs_->out.dtype);
    for (int d = 0; d < case_->layer.head_dim_v; ++d) {
      const float got = load(outputs_->out.dtype, out + d * step);
      if (!std::isfinite(got)) note_non_finite(id, d, static_cast<double>(got), 0);
    }
    const double lse = load(DType::kF32, outputs_->lse.row(row.token, id.head));
    if (std::isnan(lse) || lse == kInfinity) note_non_finite(id, -1, lse, 0);
  }

  void note_non_finite(const RowId& id, int dim, double got, double want) {
    // Only the first is worth its place in the report.
    if (error_->non_finite++ == 0) locate(id, dim, got, want);
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
    error_->worst = {id.request, case_->requests[r].group,
                     id.token,   id.head,
                     dim,        page_of(first_token_[r] + id.token),
                     got,        want};
  }

  [[nodiscard]] std::int64_t page_of(std::int64_t token) const {
    if (batch_ == nullptr) return -1;
    const auto& slots = batch_->out_cache_loc;
    if (case_->layer.is_cross_attention || token >= static_cast<std::int64_t>(slots.size())) {
      return -1;
    }
    return slots[static_cast<std::size_t>(token)] / case_->kv_cache.page_size;
  }

  const Case* case_;
  const AttentionTensors* outputs_;
  const ForwardBatch* batch_;
  Fill fill_;
  ErrorModel model_;
  ErrorMetrics* error_;
  std::vector<std::int64_t> first_token_;
  double max_abs_ = 0, sum_error_ = 0, sum_reference_ = 0, sum_noise_ = 0, sum_ratio_ = 0;
  std::int64_t elements_ = 0, zeros_ = 0;
};

/// The row of a batch's output as the reference names it.
RowId row_id(const Case& c, const OutputRow& row) {
  std::int64_t first = 0;
  for (std::size_t r = 0; r < c.requests.size(); ++r) {
    const std::int64_t q_len = c.requests[r].q_len;
    if (row.token < first + q_len) {
      return {static_cast<std::int64_t>(r), row.token - first, row.head};
    }
    first += q_len;
  }
  throw InternalError("a row beyond the batch");
}

}  // namespace

void accumulate_error(const Case& c, const Fixture& fixture, const FillTruth& truth,
                      const Numerics& numerics, ErrorMetrics& error) {
  std::vector<std::int64_t> first{0};
  for (const Request& request : c.requests) first.push_back(first.back() + request.q_len);
  const std::vector<OutputRow> suspects = fixture.non_finite_outputs();
  std::vector<OutputRow> wanted = suspects;
  for (const ReferenceRow& row : truth.rows) {
    wanted.push_back({first[static_cast<std::size_t>(row.id.request)] + row.id.token, row.id.head});
  }
  const AttentionTensors outputs = fixture.host_outputs(wanted);
  FillErrors errors(c, outputs, &fixture.batch(), truth.fill, numerics, error);
  for (const ReferenceRow& row : truth.rows) errors.compare(row);
  errors.scan_unsampled(truth.rows, suspects);
  errors.finish();
}

std::string fault_of_sample(const Case& c, const Numerics& numerics, std::int64_t number,
                            std::span<const std::byte> rows) {
  constexpr std::int64_t kMostKeys = 1 << 18;
  const std::vector<OutputRow> watched = watched_rows(c, number);
  const std::int64_t row_bytes = c.layer.head_dim_v * size_bytes(c.dtype) + size_bytes(DType::kF32);
  expects(static_cast<std::int64_t>(rows.size()) ==
              static_cast<std::int64_t>(watched.size()) * row_bytes,
          "a timed sample left other rows than those that are watched");
  std::int64_t longest = 1;
  for (const Request& request : c.requests) longest = std::max(longest, request.kv_len);
  const auto count = static_cast<std::size_t>(std::min(
      std::max<std::int64_t>(kMostKeys / longest, 1), static_cast<std::int64_t>(watched.size())));
  std::vector<RowId> ids;
  for (const OutputRow& row : std::span(watched).first(count)) ids.push_back(row_id(c, row));

  const AttentionTensors nowhere;  // the rows are at hand
  ErrorMetrics error;
  FillErrors errors(c, nowhere, nullptr, Fill::kSample, numerics, error);
  FillTruth truth{Fill::kSample, reference::evaluate_rows(c, Contents(c, number), ids)};
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* const row = rows.data() + static_cast<std::int64_t>(i) * row_bytes;
    errors.compare(truth.rows[i], row, row + row_bytes - size_bytes(DType::kF32));
  }
  errors.finish();
  const Verification judged = judge(c, error, std::span(&truth, 1));
  return judged.verdict == Verdict::kIncorrect ? judged.reason : std::string();
}

}  // namespace attnbench
