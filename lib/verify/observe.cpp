// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <set>
#include <utility>

#include "lib/base/error.h"
#include "lib/scenario/problem_of.h"
#include "lib/verify/bitwise.h"
#include "lib/verify/observation.h"

namespace attnbench {
namespace {

/// What a backend threw, with where it was.
struct BackendThrew {
  std::string message;
};

/// The runs of a backend on a case, with all faults that they show.
class Examination {
 public:
  Examination(const Case& c, Backend& backend, Device& device)
      : case_(&c),
        backend_(&backend),
        device_(&device),
        stream_(device.make_stream()),
        memory_(device) {}

  void run_fills(Fixture& fixture, const WantedRows& wanted) {
    // Damage by an earlier backend does not count against this one.
    for (const std::string& name : fixture.damaged_guards()) known_damage_.emplace(&fixture, name);
    guarded("saying where it rounds",
            [&] { found_.numerics = backend_->numerics(problem_of(*case_)); });
    fixture.poison_inputs();  // an engine plans before a layer's data exist
    plan(fixture, "planning");
    for (const Fill fill : wanted.fills) {
      const std::string where = fmt::format("on fill {}", to_string(fill));
      fixture.fill(fill);
      fixture.poison_outputs();
      forward(fixture, fill, where);
      found_.fills.push_back(take_outputs(fixture, wanted.rows, found_.numerics.lse));
      if (fill != bitwise_fill(wanted) || !attends(case_->step)) continue;
      outputs_ = OutputBits(fixture.host_outputs());
      states_ = state_bits(fixture);
      fixture.poison_outputs(0x5a);
      forward(fixture, fill, where + ", second run");
      repeat(fixture);
    }
  }

  /// The same batch on other pages, and up to two requests alone. This function makes its own
  /// fixtures; without memory for a second one the property is not tested.
  void compare_placements(const WantedRows& wanted) {
    const std::optional<Fill> fill = bitwise_fill(wanted);
    if (!fill || case_->requests.empty() || !attends(case_->step)) return;
    try {
      Fixture moved(*case_, *device_, 1);
      found_.bitwise.page_permutation_invariant = same_bits(moved, *fill, {}, "on permuted pages");
    } catch (const EnvironmentError&) {
    }
    if (case_->requests.size() < 2) return;
    for (const std::size_t request : requests_to_isolate()) compare_alone(request, *fill);
  }

  [[nodiscard]] Observation& found() { return found_; }

 private:
  /// Normal data when they are among the fills, else timing data: planted ones hide reordering.
  static std::optional<Fill> bitwise_fill(const WantedRows& wanted) {
    for (const Fill fill : {Fill::kNormal, Fill::kTiming}) {
      if (std::ranges::find(wanted.fills, fill) != wanted.fills.end()) return fill;
    }
    return std::nullopt;
  }

  template <class Work>
  void guarded(const std::string& where, const Work& work) {
    try {
      work();
    } catch (const std::exception& error) {
      throw BackendThrew{fmt::format("{}: {}", where, error.what())};
    } catch (...) {
      throw BackendThrew{where + ": threw something that is no std::exception"};
    }
  }

  void plan(const Fixture& fixture, const std::string& where) {
    guarded(where, [&] {
      plan_.reset();
      plan_ = backend_->plan(fixture.batch(), memory_);
    });
  }

  void forward(Fixture& fixture, Fill fill, const std::string& where) {
    guarded(where, [&] {
      plan_->run(*stream_);
      stream_->synchronize();
    });
    if (fixture.written_slots() > 0) {
      if (const std::string fault = fixture.fault_of_written_slots(fill); !fault.empty()) {
        add_fault(fault + ' ' + where);
      }
      found_.slots_checked += fixture.written_slots();
      fixture.poison_written_slots();
    }
    for (const std::string& name : fixture.damaged_guards()) {
      if (!known_damage_.emplace(&fixture, name).second) continue;
      add_fault(fmt::format("guard bytes of '{}' changed {}", name, where));
    }
    for (const std::string& name : fixture.changed_inputs()) {
      add_fault(fmt::format("input '{}' was modified {}", name, where));
    }
    if (!memory_.guards_intact()) {
      add_fault(fmt::format("guard bytes of the workspace changed {}", where));
    }
  }

  /// Only the first few, because one mistake shows on every fill.
  void add_fault(std::string fault) {
    if (found_.faults.size() < 3) found_.faults.push_back(std::move(fault));
  }

  static StateBits state_bits(const Fixture& fixture) {
    return {fixture.host_states(), fixture.batch().state_indices};
  }

  void repeat(const Fixture& again) {
    const std::int64_t elements = outputs_.differing(OutputBits(again.host_outputs()));
    const std::int64_t states = states_.differing(state_bits(again));
    found_.bitwise.repeatable = elements == 0 && states == 0 ? 1 : 0;
    if (found_.bitwise.repeatable == 1 || !backend_->info().deterministic) return;
    const auto counted = [](std::int64_t count, const char* what) {
      return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    add_fault(
        fmt::format("two runs differ in {} although the backend promises determinism",
                    elements > 0 ? counted(elements, "element") : counted(states, "final state")));
  }

  /// Where a request begins in the batch.
  struct Begin {
    std::size_t request = 0;
    std::int64_t token = 0;
  };

  /// 1 when a run of `fixture` gives the bits that the whole batch gave from `begin` on.
  int same_bits(Fixture& fixture, Fill fill, Begin begin, const std::string& where) {
    plan(fixture, where);
    fixture.fill(fill);
    fixture.poison_outputs();
    forward(fixture, fill, where);
    plan_.reset();  // the fixture is its caller's
    const auto first = static_cast<std::int64_t>(begin.request);
    return outputs_.differing(OutputBits(fixture.host_outputs()), begin.token) == 0 &&
                   states_.differing(state_bits(fixture), first) == 0
               ? 1
               : 0;
  }

  /// The longest request, which split-KV kernels treat most differently alone, and the first other.
  [[nodiscard]] std::vector<std::size_t> requests_to_isolate() const {
    const auto& requests = case_->requests;
    const auto longest = std::ranges::max_element(requests, {}, &Request::kv_len);
    const auto index = static_cast<std::size_t>(longest - requests.begin());
    return {index, index == 0 ? std::size_t{1} : std::size_t{0}};
  }

  void compare_alone(std::size_t request, Fill fill) {
    Case alone = *case_;
    alone.requests = {case_->requests[request]};
    alone.kv_cache.pool_tokens = 0;
    if (alone.requests[0].stream < 0) {
      alone.requests[0].stream = static_cast<std::int64_t>(request);  // keeps its contents
    }
    if (!backend_->supports(problem_of(alone))) return;
    Begin begin{request};
    for (std::size_t r = 0; r < request; ++r) begin.token += case_->requests[r].q_len;
    try {
      Fixture fixture(alone, *device_);
      const int same = same_bits(fixture, fill, begin, fmt::format("on request {} alone", request));
      found_.bitwise.batch_invariant = found_.bitwise.batch_invariant == 0 ? 0 : same;
    } catch (const EnvironmentError&) {
    }
  }

  const Case* case_;
  Backend* backend_;
  Device* device_;
  std::unique_ptr<Stream> stream_;
  PlanMemory memory_;
  std::unique_ptr<Plan> plan_;  ///< in memory_
  OutputBits outputs_;          ///< of the first run on the bitwise fill
  StateBits states_;            ///< of the same
  Observation found_;
  /// Guards stay damaged once they are: each is reported once.
  std::set<std::pair<const Fixture*, std::string>> known_damage_;
};

}  // namespace

Observation observe_backend(const Case& c, Backend& backend, Fixture& fixture, Device& device,
                            const WantedRows& wanted) {
  Examination examination(c, backend, device);
  try {
    examination.run_fills(fixture, wanted);
    examination.compare_placements(wanted);
  } catch (const BackendThrew& threw) {
    examination.found().crash = threw.message;
  }
  return std::move(examination.found());
}

}  // namespace attnbench
