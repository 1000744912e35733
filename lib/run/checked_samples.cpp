// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/run/checked_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <stdexcept>

#include "lib/base/counter_hash.h"
#include "lib/base/worth_a_team.h"
#include "lib/session/placed_samples.h"
#include "lib/verify/observation.h"

namespace attnbench {
namespace {

struct Comparison {
  std::size_t cell = 0;
  CheckedSamples::Kept kept;
  SampleError error;
};

/// 1204 as "1,204".
std::string grouped(std::int64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string in_sample(std::int64_t ordinal, const CheckedCell& cell, const std::string& fault) {
  return fmt::format("in timed sample {} of {}: {}", grouped(ordinal), cell.launch, fault);
}

/// What shows in each of a cell's samples, not only in those whose rows are compared.
std::string fault_of_all_samples(const Case& c, const CheckedCell& cell) {
  if (const std::string& damage = cell.samples->damage(); !damage.empty()) {
    return fmt::format("{} while {} were timed", damage, cell.launch);
  }
  for (const CheckedSamples::Unwritten& each : cell.samples->unwritten()) {
    const std::string fault =
        fault_of_unwritten(steps_of(c)[each.step], cell.numerics[each.step], each.found);
    if (!fault.empty()) return in_sample(each.ordinal, cell, fault);
  }
  return {};
}

}  // namespace

std::vector<SampleChecks> check_timed_samples(const Case& c, std::span<const CheckedCell> cells) {
  std::vector<Comparison> comparisons;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (CheckedSamples::Kept& kept : cells[i].samples->kept()) {
      comparisons.push_back({i, std::move(kept), {}});
    }
  }
  const std::int64_t elements =
      std::ssize(comparisons) * c.kv_tokens() * (c.layer.head_dim_qk + c.layer.head_dim_v);
  std::exception_ptr failure;  // must not leave the parallel region on its own
#pragma omp parallel for schedule(dynamic) if (elements > kWorthATeam)
  for (std::size_t i = 0; i < comparisons.size(); ++i) {
    Comparison& each = comparisons[i];
    try {
      each.error = error_of_sample(c, cells[each.cell].numerics, each.kept.outputs.number,
                                   each.kept.outputs.rows);
    } catch (...) {
#pragma omp critical(attnbench_timed_checks_failure)
      failure = std::current_exception();
    }
  }
  if (failure) std::rethrow_exception(failure);

  std::vector<SampleChecks> checks(cells.size());
  std::vector<SampleError> pooled(cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    checks[i].fault = fault_of_all_samples(c, cells[i]);
    if (const std::string& damage = cells[i].samples->odd_damage(); !damage.empty()) {
      checks[i].doubt = text_of_odd_damage(
          fmt::format("{} while {} were timed", damage, cells[i].launch), "visit");
    }
  }
  for (const Comparison& each : comparisons) {
    SampleChecks& check = checks[each.cell];
    ++check.compared;
    pooled[each.cell].add(each.error);
    if (each.error.fault.empty() || !check.fault.empty()) continue;
    check.fault = in_sample(each.kept.ordinal, cells[each.cell], each.error.fault);
  }
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const double ratio = pooled[i].rms_ratio();
    if (!checks[i].fault.empty() || ratio <= kMistrustedRms) continue;
    const std::string data = fmt::format("{} rows of {} timed samples of {}", pooled[i].rows,
                                         checks[i].compared, cells[i].launch);
    std::string& to = ratio > kIncorrectRms ? checks[i].fault : checks[i].doubt;
    if (to.empty()) to = text_of_rms(ratio, data);
  }
  return checks;
}

CheckedSamples::CheckedSamples(std::unique_ptr<SampleSource> samples, std::uint64_t seed, Wait wait)
    : samples_(std::move(samples)), seed_(seed), wait_(std::move(wait)) {}

void CheckedSamples::warm_up(WarmUp& first, double enough_s, double limit_s, const Stop& stop) {
  samples_->warm_up(first, enough_s, limit_s, stop);
  if (first.damage.empty()) return;
  SampleBlock block;
  if (!is_clean_again(first.damage, block, 1, enough_s, stop)) end(first.damage);
}

void CheckedSamples::end(const std::string& damage) {
  damage_ = damage;
  throw std::runtime_error(damage);
}

bool CheckedSamples::is_clean_again(const std::string& damage, SampleBlock& block, int count,
                                    double left_s, const Stop& stop) {
  for (const double wait_s : kWaitsBeforeRepetition_s) {
    if (stop()) break;
    wait_(wait_s);
    SampleBlock again;
    samples_->take(again, count, left_s, stop);
    if (!again.damage.empty()) continue;
    if (odd_damage_.empty()) odd_damage_ = damage;
    block = std::move(again);
    return true;
  }
  return false;
}

void CheckedSamples::take(SampleBlock& block, int count, double left_s, const Stop& stop) {
  samples_->take(block, count, left_s, stop);
  if (!block.damage.empty()) {
    const std::string damage = block.damage;
    if (!is_clean_again(damage, block, count, left_s, stop)) end(damage);
  }
  for (SampleOutputs& outputs : block.outputs) keep(std::move(outputs));
  ++visits_;
  block.outputs.clear();
}

void CheckedSamples::keep(SampleOutputs outputs) {
  ++taken_;
  for (std::size_t step = 0; step < outputs.unwritten.size(); ++step) {
    const SampleIo::Unwritten& found = outputs.unwritten[step];
    if (found.out > 0) unwritten_.try_emplace({false, step}, Unwritten{taken_, step, found});
    if (found.lse > 0) unwritten_.try_emplace({true, step}, Unwritten{taken_, step, found});
  }
  last_ = {taken_, std::move(outputs)};
  const std::uint64_t draw = combine(seed_, static_cast<std::uint64_t>(taken_));
  const auto [known, is_first] = drawn_.try_emplace(visits_ % kPlacements, draw, last_);
  if (!is_first && draw < known->second.first) known->second = {draw, last_};
}

std::vector<CheckedSamples::Unwritten> CheckedSamples::unwritten() const {
  std::vector<Unwritten> all;
  for (const auto& [kind, sample] : unwritten_) all.push_back(sample);
  return all;
}

std::vector<CheckedSamples::Kept> CheckedSamples::kept() const {
  std::vector<Kept> all;
  for (const auto& [placement, drawn] : drawn_) all.push_back(drawn.second);
  const auto is_last = [&](const Kept& each) { return each.ordinal == last_.ordinal; };
  if (taken_ > 0 && std::ranges::none_of(all, is_last)) all.push_back(last_);
  std::ranges::sort(all, {}, &Kept::ordinal);
  return all;
}

}  // namespace attnbench
