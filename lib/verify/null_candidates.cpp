// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/verify/verify.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "lib/backend/numerics.h"
#include "lib/base/dtype.h"

namespace attnbench {
namespace {

struct NullCandidate {
  const char* name;
  reference::RowVariant variant;  ///< of the right row; unused for zeros
};

constexpr std::size_t kZeros = 0;

constexpr NullCandidate kNullCandidates[] = {
    {"zeros", {}},
    {"the mean of V", {.logit_factor = 0, .plain = true}},
    {"the newest key only",
     {.keeps = [](std::int64_t number, std::int64_t count) { return number + 1 == count; }}},
    {"the newer half of the keys",
     {.keeps = [](std::int64_t number, std::int64_t count) { return number >= count / 2; }}},
    {"every sixth key",
     {.keeps = [](std::int64_t number, std::int64_t) { return number % 6 == 0; }}},
};

/// Of so many keys each candidate leaves out enough to be told from the truth, and every sixth are
/// eleven. A row that sees more takes longer to evaluate.
constexpr std::int64_t kEnoughKeys = 64;

/// The row that sees the fewest keys but enough, or else the most.
const ReferenceRow& cheapest_of(std::span<const ReferenceRow> rows) {
  return *std::ranges::min_element(rows, {}, [](const ReferenceRow& row) {
    const std::int64_t seen = row.visible;
    return seen >= kEnoughKeys ? std::pair(0, seen) : std::pair(1, -seen);
  });
}

/// One row of each fill. Random data come first: they tell most candidates from the truth.
std::vector<FillTruth> one_row_of_each(std::span<const FillTruth> truth) {
  std::vector<FillTruth> chosen;
  for (const FillTruth& each : truth) chosen.push_back({each.fill, {cheapest_of(each.rows)}});
  std::stable_partition(chosen.begin(), chosen.end(), [](const FillTruth& each) {
    return each.fill == Fill::kNormal || each.fill == Fill::kTiming;
  });
  return chosen;
}

/// `rows` as a backend of the case would have written them, in place of the right ones.
FillOutputs written(const Case& c, std::span<const ReferenceRow> rows) {
  FillOutputs outputs;
  const DType out_dtype = c.out_dtype();
  for (const ReferenceRow& row : rows) {
    const bool of_state = row.id.state_row >= 0;
    const DType dtype = of_state ? DType::kF32 : out_dtype;
    const double scale = of_state ? 1 : static_cast<double>(c.out_scale);
    const auto largest = static_cast<double>(largest_finite(dtype));
    const auto append = [&](DType type, double value) {
      outputs.rows.resize(outputs.rows.size() + static_cast<std::size_t>(size_bytes(type)));
      store(type, outputs.rows.data() + outputs.rows.size() - size_bytes(type),
            static_cast<float>(value));
    };
    for (const double value : row.out) append(dtype, std::clamp(value / scale, -largest, largest));
    if (!c.layer.is_recurrent()) append(DType::kF32, row.lse);
    outputs.pages.push_back(-1);
  }
  return outputs;
}

ReferenceRow zeros_like(ReferenceRow row) {
  std::ranges::fill(row.out, 0.0);
  row.lse = 0;
  return row;
}

/// Of each candidate but zeros what it gives in place of `rows`.
std::vector<std::vector<ReferenceRow>> rows_of_candidates(const Case& c, Fill fill,
                                                          std::span<const ReferenceRow> rows) {
  std::vector<RowId> ids;
  for (const ReferenceRow& row : rows) ids.push_back(row.id);
  std::vector<reference::RowVariant> variants;
  for (const NullCandidate& each : std::span(kNullCandidates).subspan(kZeros + 1)) {
    variants.push_back(each.variant);
  }
  std::vector<ReferenceRow> found =
      reference::evaluate_variants(c, checked_contents(c, fill), ids, variants);
  std::vector<std::vector<ReferenceRow>> given(variants.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    given[i % variants.size()].push_back(std::move(found[i]));
  }
  return given;
}

/// What the candidates give on some rows of some fills, computed when it is asked for.
class NullOutputs {
 public:
  NullOutputs(const Case& c, std::span<const FillTruth> rows)
      : case_(&c), rows_(rows), zeros_(rows.size()), others_(rows.size()) {}

  /// Whether a backend of such numerics would pass with the candidate, the fills being compared one
  /// after the other until one fails.
  [[nodiscard]] bool passes(std::size_t candidate, const Numerics& numerics) {
    ErrorMetrics error;
    for (std::size_t fill = 0; fill < rows_.size(); ++fill) {
      accumulate_error(*case_, of(candidate, fill), rows_[fill], numerics, error);
      error.zero_share = 0;  // a backend that hides its zeros writes 1e-20
      if (is_doubted(error)) return false;
    }
    return true;
  }

 private:
  /// The weaknesses of the case itself are not asked for: no case comes here that has some.
  [[nodiscard]] bool is_doubted(const ErrorMetrics& error) const {
    const FillTruth planted{Fill::kNeedle, {}};
    return judge(*case_, error, {&planted, 1}).verdict != Verdict::kPassed;
  }

  [[nodiscard]] const FillOutputs& of(std::size_t candidate, std::size_t fill) {
    const std::vector<ReferenceRow>& right = rows_[fill].rows;
    if (candidate == kZeros) {
      if (zeros_[fill].pages.empty()) {
        std::vector<ReferenceRow> zeros;
        std::ranges::transform(right, std::back_inserter(zeros), zeros_like);
        zeros_[fill] = as_written(std::move(zeros), right);
      }
      return zeros_[fill];
    }
    if (others_[fill].empty()) {
      for (auto& given : rows_of_candidates(*case_, rows_[fill].fill, right)) {
        others_[fill].push_back(as_written(std::move(given), right));
      }
    }
    return others_[fill][candidate - kZeros - 1];
  }

  /// A row that sees no key is right: the mask, which everybody knows, is all that it takes.
  [[nodiscard]] FillOutputs as_written(std::vector<ReferenceRow> given,
                                       std::span<const ReferenceRow> right) const {
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!case_->layer.is_recurrent() && right[i].visible == 0) given[i] = right[i];
    }
    return written(*case_, given);
  }

  const Case* case_;
  std::span<const FillTruth> rows_;
  std::vector<FillOutputs> zeros_;                ///< by fill
  std::vector<std::vector<FillOutputs>> others_;  ///< by fill, then by candidate
};

/// Which declared stage lets the candidate pass: those that would not, were they in f32; else all.
std::string blamed_stages(NullOutputs& outputs, std::size_t candidate, const Numerics& declared) {
  struct Stage {
    const char* name;
    DType Numerics::*type;
  };
  constexpr Stage kStages[] = {{"operands of q.k", &Numerics::qk_input},
                               {"weights", &Numerics::p},
                               {"sums", &Numerics::accumulator},
                               {"partial results", &Numerics::partial_out}};
  std::vector<std::string> decisive, loose;
  for (const Stage& stage : kStages) {
    const DType type = declared.*stage.type;
    if (type == DType::kF32) continue;
    std::string text = fmt::format("{} declared in {}", stage.name, to_string(type));
    if (stage.type == &Numerics::partial_out && declared.partial_roundings > 1) {
      text += fmt::format(", rounded {} times,", declared.partial_roundings);
    }
    Numerics without = declared;
    without.*stage.type = DType::kF32;
    if (!outputs.passes(candidate, without)) decisive.push_back(text);
    loose.push_back(std::move(text));
  }
  return fmt::format("{} make the bounds as wide as the result",
                     fmt::join(decisive.empty() ? loose : decisive, " and "));
}

}  // namespace

std::string passing_null_candidate(const Case& c, const Numerics& declared,
                                   std::span<const FillTruth> truth) {
  if (looser_than(DType::kF32, declared).empty()) return {};  // it is the case's own answer
  if (truth.empty() || truth.front().rows.empty()) return {};
  const std::vector<FillTruth> few = one_row_of_each(truth);
  NullOutputs at_a_glance(c, few), outputs(c, truth);
  const std::size_t candidates = c.layer.is_recurrent() ? kZeros + 1 : std::size(kNullCandidates);
  for (std::size_t i = 0; i < candidates; ++i) {
    if (!at_a_glance.passes(i, declared) || !outputs.passes(i, declared)) continue;
    if (outputs.passes(i, {.lse = declared.lse})) continue;
    return fmt::format("{} would pass: {}", kNullCandidates[i].name,
                       blamed_stages(outputs, i, declared));
  }
  return {};
}

}  // namespace attnbench
