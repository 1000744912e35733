// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lib/isolate/channel.h"
#include "lib/isolate/child_output.h"
#include "lib/isolate/child_process.h"
#include "lib/isolate/process_family.h"
#include "lib/isolate/worker.h"
#include "lib/measure/measure.h"
#include "lib/scenario/scenario.h"
#include "lib/session/devices.h"
#include "lib/session/kept_ceilings.h"
#include "lib/session/session.h"

namespace attnbench {

/// How backends are kept apart from the run and from each other.
struct Isolation {
  double timeout_s = 300;  ///< for each step of a backend: a fixture, a verification, a visit
  DeviceOptions devices;
  int ceiling_turns = kCeilingTurns;
  KeptCeilings kept_ceilings = {};
  int processes = 1;  ///< that hold fixtures at the same time, and share the memory of the devices
  std::function<bool()> stop_requested;  ///< may be empty; children under way are killed then
  /// May be empty; told once of each step that takes a backend longer than `notice_s`.
  std::function<void(const std::string&)> note;
  double notice_s = 60;  ///< a person begins to wonder
};

/// One backend's child process, as long as it lives.
class RemoteWorker {
 public:
  /// Starts it where the entry says, and does not wait until it is ready: several start at the same
  /// time. Scenario, isolation and family must outlive it.
  RemoteWorker(const Scenario& scenario, const Isolation& isolation, const Registry::Entry& entry,
               ProcessFamily& family)
      : RemoteWorker(scenario, isolation, entry, family, SocketPair()) {}
  ~RemoteWorker();
  RemoteWorker(const RemoteWorker&) = delete;
  RemoteWorker& operator=(const RemoteWorker&) = delete;

  /// Has the child do a step, `request` with its details, and returns its answer. Throws
  /// EnvironmentError and HostSyncError when the child did, BackendFailed for every other failure
  /// there, its end and a timeout included, and RunStopped. `answer` receives what was found
  /// before a failure.
  nlohmann::json ask(const std::string& step, nlohmann::json request = nlohmann::json::object(),
                     nlohmann::json* answer = nullptr);

  /// Asks for a step without waiting for the answer, which answer_to_posted() gives: several
  /// children work on theirs at the same time.
  void post(const std::string& step, nlohmann::json request);
  /// The answer to the last step that was posted; throws as ask() does. Called before ask().
  nlohmann::json answer_to_posted();

  /// Its answer to `step` says nothing: the backend's code may have sent it. Ends the child; throws
  /// BackendFailed.
  [[noreturn]] void refuse_answer(const std::string& step, const std::string& why);

  /// From now on a backend's code runs there: each step within Isolation::timeout_s.
  void limit_steps() { limit_s_ = isolation_->timeout_s; }
  /// False once anything has failed in it, because other state may be damaged, too.
  [[nodiscard]] bool trusted() const { return trusted_; }
  [[nodiscard]] pid_t pid() const { return child_->pid(); }
  /// Ends the child at once, and with it what it holds of its device.
  void retire() noexcept;
  /// Tells an idle child to go; the destructor waits for it.
  void dismiss() noexcept { channel_.close(); }

 private:
  struct SocketPair {
    SocketPair();
    int ours = -1, theirs = -1;
  };
  RemoteWorker(const Scenario& scenario, const Isolation& isolation, const Registry::Entry& entry,
               ProcessFamily& family, SocketPair sockets);
  /// A step whose answer is yet to come, and the seconds that it may take.
  struct Posted {
    std::string step;
    double limit_s;
  };

  /// Waits for the answer to the oldest step that was posted.
  nlohmann::json next_answer(nlohmann::json* answer);
  [[nodiscard]] Patience patience(const Posted& step) const;
  [[noreturn]] void fail_for_current_exception(const Posted& step);
  [[noreturn]] void fail(std::string why);

  const Isolation* isolation_;
  std::string name_;  ///< of the backend
  double limit_s_;
  Channel channel_;
  CappedOutput output_;
  std::unique_ptr<ChildProcess> child_;
  std::deque<Posted> posted_;
  std::string end_;  ///< why the child cannot be asked any more
  bool trusted_ = true;
};

/// A session in the worker's process, which begins to consider the case while others do.
[[nodiscard]] std::unique_ptr<Session> begin_remote_session(const Case& c, int rounds,
                                                            RemoteWorker& worker);

}  // namespace attnbench
