// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "lib/base/error.h"
#include "lib/fixture/sample_io.h"
#include "lib/scenario/problem_of.h"
#include "lib/verify/bitwise.h"
#include "lib/verify/compared_fixtures.h"
#include "lib/verify/observation.h"

namespace attnbench {
namespace {

/// What a backend threw, with where it was.
struct BackendThrew {
  std::string message;
};

/// Host time of `work`, in microseconds.
template <class Work>
double timed_us(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin)
      .count();
}

/// The runs of a backend on a case, with all faults that they show.
class Examination {
 public:
  Examination(const Case& c, Backend& backend, Device& device, ComparedFixtures& others,
              bool others_may_run)
      : case_(&c),
        backend_(&backend),
        device_(&device),
        others_(&others),
        others_may_run_(others_may_run),
        stream_(device.make_stream()),
        memory_(device) {}

  void run_fills(Fixture& fixture, const WantedRows& wanted) {
    fixture.restore_guards();  // damage by an earlier backend does not count against this one
    guarded("saying where it rounds",
            [&] { found_.numerics = backend_->numerics(problem_of(*case_)); });
    fixture.poison_inputs();  // an engine plans before a layer's data exist
    const double plan_us = timed_us([&] { plan(fixture, "planning"); });
    found_.kernel = plan_->kernel();
    for (const Fill fill : wanted.fills) {
      const std::string where = fmt::format("on fill {}", to_string(fill));
      found_.building_us += timed_us([&] { fixture.fill(fill); });
      fixture.poison_outputs();
      const double run_us = forward(fixture, fill, where);
      if (found_.fills.empty()) found_.first_use_us = plan_us + run_us;
      found_.fills.push_back(take_outputs(fixture, wanted.rows, found_.numerics.lse));
      if (fill != bitwise_fill(wanted) || !attends(case_->step)) continue;
      outputs_ = OutputBits(fixture.host_outputs());
      states_ = state_bits(fixture);
      fixture.poison_outputs(0x5a);
      forward(fixture, fill, where + ", second run", 0x5a);
      repeat(fixture);
    }
  }

  /// The same batch on other pages, and two requests alone or as many compositions as are wanted.
  /// Without memory for a second fixture the property is not tested, unless it is required.
  void compare_placements(const WantedRows& wanted) {
    const std::optional<Fill> fill = bitwise_fill(wanted);
    if (!fill || case_->requests.empty() || !attends(case_->step)) return;
    try {
      const auto moved = other_fixture(*case_, 1, {});
      found_.bitwise.page_permutation_invariant = same_bits(*moved, *fill, "on permuted pages");
    } catch (const EnvironmentError&) {
    }
    if (case_->requests.size() < 2) return;
    if (wanted.compositions > 0) return compare_compositions(wanted.compositions, *fill);
    for (const std::size_t request : requests_to_isolate()) {
      const std::optional<std::string> other = compare(composition_of(*case_, {request}), *fill);
      if (other) note_invariance(other->empty());
    }
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

  [[nodiscard]] std::shared_ptr<ComparedFixture> other_fixture(
      const Case& c, std::uint64_t placement_salt, const std::vector<std::size_t>& requests) {
    std::shared_ptr<ComparedFixture> other;
    found_.building_us += timed_us([&] { other = others_->of(c, placement_salt, requests); });
    return other;
  }

  void plan(const Fixture& fixture, const std::string& where) {
    guarded(where, [&] {
      plan_.reset();
      plan_ = backend_->plan(fixture.batch(), memory_);
    });
  }

  /// A run on outputs poisoned with `poison`, repeated where it damaged memory: the backend is to
  /// blame for what a repetition damages, too. Returns the host's time for the first run and the
  /// wait for its end, in microseconds.
  double forward(Fixture& fixture, Fill fill, const std::string& where,
                 std::uint8_t poison = 0xff) {
    const double run_us = run(fixture, fill, where);
    const std::vector<std::string> damage = damage_in(fixture);
    if (damage.empty()) return run_us;
    for (const double wait_s : kWaitsBeforeRepetition_s) {
      if (damages_memory_) break;
      if (others_may_run_) std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
      fixture.fill(fill);
      fixture.poison_outputs(poison);
      try {
        static_cast<void>(run(fixture, fill, where));
      } catch (const BackendThrew&) {
        blame(damage, where);  // it may explain the crash
        throw;
      }
      if (damage_in(fixture).empty()) {
        found_.odd_damage.push_back(damage.front() + ' ' + where);
        return run_us;
      }
    }
    blame(damage, where);
    return run_us;
  }

  void blame(const std::vector<std::string>& damage, const std::string& where) {
    damages_memory_ = true;
    for (const std::string& each : damage) {
      if (blamed_.insert(each).second) add_fault(each + ' ' + where);
    }
  }

  /// Contents of timed samples, whose number is 0 where there is none, in place of Fill::kTiming's.
  void put_sample(Fixture& fixture, std::int64_t number) {
    std::unique_ptr<SampleIo>& io = sample_io_[&fixture];
    if (!io) io = make_sample_io(*device_, {&fixture});
    static_cast<void>(io->stage(number, 1, *stream_));
    io->rewrite_keys(number, *stream_);
    io->write(number, *stream_);
    stream_->synchronize();
  }

  double run(Fixture& fixture, Fill fill, const std::string& where) {
    if (fill == Fill::kTiming) put_sample(fixture, kCheckedSample);
    const double run_us = timed_us([&] {
      guarded(where, [&] {
        plan_->run(*stream_);
        stream_->synchronize();
      });
    });
    check_what_was_written(fixture, fill, where);
    if (fill == Fill::kTiming) put_sample(fixture, 0);  // which inputs are compared with
    fixture.take_back_writes();
    return run_us;
  }

  /// In the cache, or in the arrays that the step builds.
  void check_what_was_written(const Fixture& fixture, Fill fill, const std::string& where) {
    found_.slots_checked += fixture.written_slots();
    const Contents contents = checked_contents(fixture.fixture_case(), fill);
    const std::string of_slots = fixture.fault_of_written_slots(contents);
    if (!of_slots.empty()) add_fault(of_slots + ' ' + where);
    const std::string of_arrays = fixture.fault_of_arrays(contents);
    if (!of_arrays.empty() && blamed_.insert(of_arrays).second) add_fault(of_arrays);
  }

  /// What may not change and has. Guards are restored.
  [[nodiscard]] std::vector<std::string> damage_in(Fixture& fixture) {
    std::vector<std::string> damage;
    for (const std::string& name : fixture.damaged_guards()) {
      damage.push_back(fmt::format("guard bytes of '{}' changed", name));
    }
    if (!damage.empty()) fixture.restore_guards();
    for (const std::string& name : fixture.changed_inputs()) {
      damage.push_back(fmt::format("input '{}' was modified", name));
    }
    if (!memory_.guards_intact()) {
      damage.emplace_back("guard bytes of the workspace changed");
      memory_.restore_guards();
    }
    return damage;
  }

  /// Only the first few, because one mistake shows on every fill.
  void add_fault(std::string fault) {
    if (found_.faults.size() < 3) found_.faults.push_back(std::move(fault));
  }

  static StateBits state_bits(const Fixture& fixture) {
    const StatePool pool = fixture.host_states();
    if (pool.data == nullptr) return {};
    return {pool, slots_left(fixture.batch())};
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

  /// Runs the whole batch in `fixture` again: 1 when it gives the bits that it gave before.
  int same_bits(ComparedFixture& other, Fill fill, const std::string& where) {
    run_anew(other, fill, where);
    const Fixture& fixture = other.fixture();
    return outputs_.differing(OutputBits(fixture.host_outputs())) == 0 &&
                   states_.differing(state_bits(fixture)) == 0
               ? 1
               : 0;
  }

  void run_anew(ComparedFixture& other, Fill fill, const std::string& where) {
    Fixture& fixture = other.fixture();
    plan(fixture, where);
    found_.building_us += timed_us([&] { other.fill(fill); });
    fixture.poison_outputs();
    forward(fixture, fill, where);
    plan_.reset();  // the fixture is its caller's
    sample_io_.erase(&fixture);
  }

  /// The longest request, which split-KV kernels treat most differently alone, and the first other.
  [[nodiscard]] std::vector<std::size_t> requests_to_isolate() const {
    const auto& requests = case_->requests;
    const auto longest = std::ranges::max_element(requests, {}, &Request::kv_len);
    const auto index = static_cast<std::size_t>(longest - requests.begin());
    return {index, index == 0 ? std::size_t{1} : std::size_t{0}};
  }

  void note_invariance(bool invariant) {
    found_.bitwise.batch_invariant = found_.bitwise.batch_invariant != 0 && invariant ? 1 : 0;
  }

  [[nodiscard]] std::int64_t first_token_of(std::size_t request) const {
    std::int64_t token = 0;
    for (std::size_t r = 0; r < request; ++r) token += case_->requests[r].q_len;
    return token;
  }

  /// "request 3 (chat) in a batch of requests 3, 0, 7".
  [[nodiscard]] std::string described(const BatchComposition& batch, std::size_t request) const {
    return fmt::format("request {} ({}) in a batch of request{} {}", request,
                       case_->requests[request].group, batch.requests.size() == 1 ? "" : "s",
                       fmt::join(batch.requests, ", "));
  }

  /// The first request that has other bits in this batch than in the whole one, and "" where there
  /// is none; nothing where the backend does not take the batch or there is no memory for it.
  std::optional<std::string> compare(const BatchComposition& batch, Fill fill) {
    if (!backend_->supports(problem_of(batch.step))) return std::nullopt;
    try {
      const auto other = other_fixture(batch.step, 0, batch.requests);
      run_anew(*other, fill,
               fmt::format("on a batch of request{} {}", batch.requests.size() == 1 ? "" : "s",
                           fmt::join(batch.requests, ", ")));
      const AttentionTensors outputs = other->fixture().host_outputs();
      const StateBits states = state_bits(other->fixture());
      std::int64_t token = 0;
      for (std::size_t i = 0; i < batch.requests.size(); ++i) {
        const std::size_t request = batch.requests[i];
        const std::int64_t q_len = batch.step.requests[i].q_len;
        const OutputBits own(outputs, token, q_len);
        if (outputs_.differing(own, first_token_of(request)) > 0 ||
            states_.of(request) != states.of(i)) {
          return described(batch, request);
        }
        token += q_len;
      }
      return "";
    } catch (const EnvironmentError&) {
      return std::nullopt;
    }
  }

  void compare_compositions(int count, Fill fill) {
    int compared = 0;
    for (const BatchComposition& batch : batch_compositions(*case_, count)) {
      const std::optional<std::string> other = compare(batch, fill);
      if (!other) continue;
      ++compared;
      note_invariance(other->empty());
      if (other->empty()) continue;
      return add_fault(
          fmt::format("not batch-invariant: {} has other bits than in the whole batch", *other));
    }
    if (compared == 0) {
      add_fault(
          "batch invariance cannot be shown: the backend takes no batch of fewer requests, "
          "or there is no memory for a second one");
    }
  }

  const Case* case_;
  Backend* backend_;
  Device* device_;
  ComparedFixtures* others_;
  bool others_may_run_;
  std::unique_ptr<Stream> stream_;
  PlanMemory memory_;
  std::unique_ptr<Plan> plan_;  ///< in memory_
  OutputBits outputs_;          ///< of the first run on the bitwise fill
  StateBits states_;            ///< of the same
  Observation found_;
  std::map<const Fixture*, std::unique_ptr<SampleIo>> sample_io_;  ///< where it was needed
  bool damages_memory_ = false;                                    ///< shown by a repetition
  std::set<std::string> blamed_;  ///< one mistake shows in every run
};

}  // namespace

Observation observe_backend(const Case& c, Backend& backend, Fixture& fixture, Device& device,
                            const WantedRows& wanted, ComparedFixtures& others,
                            bool others_may_run) {
  Examination examination(c, backend, device, others, others_may_run);
  try {
    examination.run_fills(fixture, wanted);
    examination.compare_placements(wanted);
  } catch (const BackendThrew& threw) {
    examination.found().crash = threw.message;
  }
  return std::move(examination.found());
}

}  // namespace attnbench
