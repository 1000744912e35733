// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/trace/simulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "lib/base/counter_hash.h"
#include "lib/base/error.h"
#include "lib/trace/prefix_cache.h"
#include "lib/trace/request_ledger.h"

namespace attnbench {
namespace {

/// Times are whole nanoseconds: sums of them have no rounding that depends on their order.
using Nanoseconds = std::int64_t;
constexpr double kPerSecond = 1e9;

double seconds_of(Nanoseconds time) { return static_cast<double>(time) / kPerSecond; }

/// A request that an engine has admitted.
struct Running {
  std::uint32_t request = 0;
  std::int64_t prompt_left = 0;        ///< tokens to compute
  std::int64_t produced = 0;           ///< tokens of the answer
  std::int64_t answer = 0;             ///< tokens at which it ends
  std::int64_t hit = 0, received = 0;  ///< not yet shown in a step
  Nanoseconds first_token = 0;
};

std::size_t capacity_of(const Trace& trace, const EngineRules& rules) {
  if (trace.block_tokens == 0 || !rules.cache_tokens) return trace.distinct_blocks;
  return static_cast<std::size_t>(*rules.cache_tokens / trace.block_tokens);
}

class Engine {
 public:
  Engine(const Trace& trace, const EngineRules& rules, const StepSink& sink)
      : trace_(trace),
        rules_(rules),
        sink_(sink),
        cache_(trace.distinct_blocks, capacity_of(trace, rules)),
        ledger_(trace) {}

  SimulationTotals run() {
    skip_answered();
    while (next_ < trace_.requests.size() || !running_.empty()) {
      if (running_.empty()) now_ = std::max(now_, arrival_of(next_));
      schedule();
      finish_step();
    }
    ledger_.expect_balanced(rules_.role);
    totals_.end_s = seconds_of(now_);
    if (!first_tokens_.empty()) totals_.first_token_s = spread_of(first_tokens_);
    if (!later_tokens_.empty()) totals_.later_token_s = spread_of(later_tokens_);
    return totals_;
  }

 private:
  [[nodiscard]] Nanoseconds arrival_of(std::size_t request) const {
    return std::llround(trace_.requests[request].arrival_s * kPerSecond);
  }

  [[nodiscard]] bool one_waits() const {
    return next_ < trace_.requests.size() && arrival_of(next_) <= now_ &&
           static_cast<std::int64_t>(running_.size()) < rules_.max_requests;
  }

  /// A request that its first token ended does not come to an engine for decodes.
  void skip_answered() {
    while (rules_.role == EngineRole::kDecode && next_ < trace_.requests.size() &&
           trace_.requests[next_].output_tokens == 1) {
      ++next_;
    }
  }

  /// Takes the request that has waited longest.
  void admit() {
    const TracedRequest& request = trace_.requests[next_];
    Running admitted;
    admitted.request = static_cast<std::uint32_t>(next_++);
    admitted.answer = rules_.role == EngineRole::kPrefill ? 1 : request.output_tokens;
    if (rules_.role == EngineRole::kDecode) {
      admitted.received = request.input_tokens;
      admitted.produced = 1;
      admitted.first_token = arrival_of(admitted.request);
    } else {
      admitted.hit = spared_tokens(trace_, request, cache_.match(trace_.blocks_of(request)));
      admitted.prompt_left = request.input_tokens - admitted.hit;
    }
    running_.push_back(admitted);
    skip_answered();
  }

  /// Chooses what the next step computes.
  void schedule() {
    parts_.clear();
    indices_.clear();
    new_tokens_ = 0;
    budget_ = rules_.token_budget;
    if (rules_.chunked_prefill) {
      schedule_decodes();
      for (std::size_t i = 0; i < running_.size() && budget_ > 0; ++i) schedule_prompt(i);
      while (budget_ > 0 && one_waits()) {
        admit();
        schedule_last();
      }
      return;
    }
    while (one_waits() && rules_.role != EngineRole::kDecode) {
      const bool fits = budget_ >= trace_.requests[next_].input_tokens;
      if (!fits && !parts_.empty()) break;
      admit();
      budget_ = std::max(budget_, running_.back().prompt_left);  // one above it goes alone
      schedule_last();
    }
    while (rules_.role == EngineRole::kDecode && one_waits()) admit();
    if (parts_.empty()) schedule_decodes();
  }

  void schedule_last() {
    const std::size_t last = running_.size() - 1;
    if (running_[last].prompt_left > 0) {
      schedule_prompt(last);
    } else {
      schedule_decode(last);
    }
  }

  void schedule_decodes() {
    for (std::size_t i = 0; i < running_.size(); ++i) schedule_decode(i);
  }

  /// A decode that does not fit into the step any more waits for the next one.
  void schedule_decode(std::size_t index) {
    const Running& r = running_[index];
    const std::int64_t tokens = 1 + rules_.draft_tokens;
    if (r.prompt_left > 0 || tokens > budget_) return;
    const std::int64_t known = trace_.requests[r.request].input_tokens + r.produced;
    add(index, tokens, known + rules_.draft_tokens, true);
  }

  void schedule_prompt(std::size_t index) {
    const Running& r = running_[index];
    if (r.prompt_left == 0) return;
    const std::int64_t tokens = std::min(r.prompt_left, budget_);
    const std::int64_t before = trace_.requests[r.request].input_tokens - r.prompt_left;
    add(index, tokens, before + tokens, false);
  }

  void add(std::size_t index, std::int64_t tokens, std::int64_t kv_len, bool is_decode) {
    StepRequest part;
    part.request = running_[index].request;
    part.new_tokens = tokens;
    part.kv_len = kv_len;
    part.is_decode = is_decode;
    parts_.push_back(part);
    indices_.push_back(index);
    budget_ -= tokens;
  }

  /// Drafts that are taken before the first that is not.
  [[nodiscard]] std::int64_t accepted_drafts(const Running& r) const {
    constexpr double kBits = 4294967296.0;  // of element_bits()
    const auto limit = static_cast<std::uint64_t>(rules_.accept_rate * kBits);
    const std::uint64_t key = combine(combine(rules_.seed, r.request), to_unsigned(r.produced));
    std::int64_t accepted = 0;
    while (accepted < rules_.draft_tokens &&
           element_bits(key, static_cast<std::uint32_t>(accepted)) < limit) {
      ++accepted;
    }
    return accepted;
  }

  static std::uint64_t to_unsigned(std::int64_t value) { return static_cast<std::uint64_t>(value); }

  /// Lets time pass, and every request of the step have what it computed.
  void finish_step() {
    TracedStep step;
    for (const StepRequest& part : parts_) count(part, step);
    const StepTime& time = rules_.time;
    const double tokens = static_cast<double>(new_tokens_), keys = static_cast<double>(step.keys);
    const Nanoseconds duration =
        std::llround((time.step_s + time.token_s * tokens + time.key_s * keys) * kPerSecond);
    step.start_s = seconds_of(now_);
    step.duration_s = seconds_of(duration);
    now_ += duration;
    bool one_ended = false;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      complete(running_[indices_[i]], parts_[i]);
      step.hit_tokens += parts_[i].hit_tokens;
      one_ended = one_ended || parts_[i].ends;
    }
    if (one_ended) std::erase_if(running_, [](const Running& r) { return r.produced >= r.answer; });
    step.requests = parts_;
    add_to_totals(step);
    ledger_.add(step);
    sink_(step);
  }

  void count(const StepRequest& part, TracedStep& step) {
    new_tokens_ += part.new_tokens;
    step.keys += part.kv_len;
    if (part.is_decode) {
      ++step.decodes;
      return;
    }
    step.prefill_tokens += part.new_tokens;
    const std::int64_t before = part.kv_len - part.new_tokens;
    step.prefill_pairs += part.new_tokens * before + part.new_tokens * (part.new_tokens + 1) / 2;
  }

  void complete(Running& r, StepRequest& part) {
    part.hit_tokens = std::exchange(r.hit, 0);
    part.received_tokens = std::exchange(r.received, 0);
    if (part.is_decode) {
      part.produced_tokens = std::min(1 + accepted_drafts(r), r.answer - r.produced);
    } else {
      r.prompt_left -= part.new_tokens;
      if (r.prompt_left > 0) return;
      const TracedRequest& request = trace_.requests[r.request];
      cache_.insert(trace_.blocks_of(request));
      r.first_token = now_;
      first_tokens_.push_back(seconds_of(now_ - arrival_of(r.request)));
      part.produced_tokens = 1;
    }
    r.produced += part.produced_tokens;
    part.ends = r.produced >= r.answer;
    if (part.ends && r.answer > 1) {
      later_tokens_.push_back(seconds_of(now_ - r.first_token) / static_cast<double>(r.answer - 1));
    }
  }

  void add_to_totals(const TracedStep& step) {
    ++totals_.steps;
    (step.prefill_tokens == 0 ? totals_.decode_steps
     : step.decodes == 0      ? totals_.prefill_steps
                              : totals_.mixed_steps)++;
    totals_.requests_in_steps += static_cast<std::int64_t>(step.requests.size());
    totals_.decodes += step.decodes;
    totals_.prefill_tokens += step.prefill_tokens;
    totals_.hit_tokens += step.hit_tokens;
    totals_.keys += step.keys;
    totals_.prefill_pairs += step.prefill_pairs;
    totals_.busy_s += step.duration_s;
    for (const StepRequest& part : step.requests) {
      totals_.output_tokens += part.produced_tokens;
      totals_.received_tokens += part.received_tokens;
    }
  }

  const Trace& trace_;
  const EngineRules& rules_;
  const StepSink& sink_;
  PrefixCache cache_;
  RequestLedger ledger_;
  SimulationTotals totals_;
  std::vector<Running> running_;  // in order of arrival
  std::vector<StepRequest> parts_;
  std::vector<std::size_t> indices_;
  std::vector<double> first_tokens_, later_tokens_;
  std::int64_t budget_ = 0, new_tokens_ = 0;  // of the step
  std::size_t next_ = 0;                      // request to be admitted
  Nanoseconds now_ = 0;
};

}  // namespace

SimulationTotals simulate(const Trace& trace, const EngineRules& rules, const StepSink& sink) {
  if (rules.token_budget <= rules.draft_tokens) {
    throw ConfigError(fmt::format("--token-budget {} has no room for one decode of {} tokens",
                                  rules.token_budget, 1 + rules.draft_tokens));
  }
  return Engine(trace, rules, sink).run();
}

}  // namespace attnbench
