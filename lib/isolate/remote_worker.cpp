// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/remote_worker.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "lib/base/error.h"
#include "lib/isolate/fields.h"
#include "lib/isolate/worker.h"
#include "lib/session/aa_pairs.h"
#include "lib/session/build_info.h"
#include "lib/session/session.h"

namespace attnbench {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

/// A process that has closed its channel ends within milliseconds, unless its GPU has much to free.
constexpr milliseconds kToEnd{5000};

/// Time to start and to measure the device. No backend's code runs then, so the timeout for
/// backends does not apply.
constexpr double kOwnStepS = 300;

}  // namespace

RemoteWorker::SocketPair::SocketPair() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw EnvironmentError(
        fmt::format("cannot start a worker process: socketpair: {}", std::strerror(errno)));
  }
  ours = ends[0];
  theirs = ends[1];
}

RemoteWorker::RemoteWorker(const Scenario& scenario, const Isolation& isolation,
                           const Registry::Entry& entry, ProcessFamily& family, SocketPair sockets)
    : isolation_(&isolation),
      name_(entry.info.name),
      limit_s_(kOwnStepS),
      channel_(sockets.ours),
      output_(name_) {
  {
    // Closed here once the child has it, so that the end of the child closes the channel.
    const Channel theirs(sockets.theirs);
    std::vector<std::string> words = entry.host;
    if (words.empty()) words = {ChildProcess::kThisProgram, kWorkerCommand};
    words.push_back(std::to_string(getpid()));
    child_ = std::make_unique<ChildProcess>(std::move(words), sockets.theirs, &family,
                                            output_.entrance());
    output_.close_entrance();
  }
  const DeviceOptions& devices = isolation.devices;
  post("starting", {{"build", build_id()},
                    {"backend", without_environment(registered_name(entry.info.name))},
                    {"threads", devices.threads},
                    {"ceiling_turns", isolation.ceiling_turns},
                    {"processes", isolation.processes},
                    {"cpu_target", to_string(devices.cpu_target)},
                    {"gpu", devices.gpu ? json(*devices.gpu) : json()},
                    {"scenario",
                     {{"text", scenario.text},
                      {"path", scenario.path},
                      {"seed", scenario.seed},
                      {"axis", scenario.axis ? to_json_fields(*scenario.axis) : json()}}}});
}

RemoteWorker::~RemoteWorker() {
  channel_.close();
  // A child that has failed may be in any state.
  static_cast<void>(child_->end(trusted_ ? kToEnd : milliseconds(0)));
}

void RemoteWorker::retire() noexcept {
  trusted_ = false;
  channel_.close();
  static_cast<void>(child_->end(milliseconds(0)));
}

void RemoteWorker::fail(std::string why) {
  trusted_ = false;
  end_ = std::move(why);
  channel_.close();
  throw BackendFailed(end_);
}

void RemoteWorker::refuse_answer(const std::string& step, const std::string& why) {
  static_cast<void>(child_->end(milliseconds(0)));
  fail(fmt::format("its process gave an answer that is none while {}: {}", step, why));
}

Patience RemoteWorker::patience(const Posted& step) const {
  using std::chrono::steady_clock;
  const auto after = [begin = steady_clock::now()](double seconds) {
    return begin + std::chrono::duration_cast<steady_clock::duration>(
                       std::chrono::duration<double>(seconds));
  };
  const auto look = [this, step, notice = after(isolation_->notice_s), told = false]() mutable {
    if (!told && isolation_->note && steady_clock::now() > notice) {
      told = true;
      isolation_->note(
          fmt::format("{} has given no answer for {} s while {}; --timeout, {} s now, "
                      "ends its process",
                      name_, isolation_->notice_s, step.step, step.limit_s));
    }
    return isolation_->stop_requested && isolation_->stop_requested();
  };
  return {after(step.limit_s), look};
}

void RemoteWorker::fail_for_current_exception(const Posted& step) {
  try {
    throw;
  } catch (const ChannelTimeout&) {
    static_cast<void>(child_->end(milliseconds(0)));
    fail(fmt::format("its process gave no answer within {} s while {} (--timeout)", step.limit_s,
                     step.step));
  } catch (const ChannelClosed& closed) {
    const std::optional<std::string> end = child_->end(kToEnd);
    fail(fmt::format("its process {} while {}",
                     end.value_or(fmt::format("was cut off ({})", closed.what())), step.step));
  } catch (const RunStopped&) {
    trusted_ = false;
    end_ = "interrupted";
    static_cast<void>(child_->end(milliseconds(0)));
    throw;
  }
}

void RemoteWorker::post(const std::string& step, json request) {
  if (!end_.empty()) throw BackendFailed(end_);
  request["step"] = step;
  posted_.push_back({step, limit_s_});
  try {
    channel_.send(request, patience(posted_.back()));
  } catch (...) {
    fail_for_current_exception(posted_.front());
  }
}

json RemoteWorker::next_answer(json* answer) {
  if (!end_.empty()) throw BackendFailed(end_);
  const Posted step = posted_.front();
  posted_.pop_front();
  json reply;
  try {
    reply = channel_.receive(patience(step));
  } catch (...) {
    fail_for_current_exception(step);
  }
  json found = std::move(reply["answer"]);
  if (!reply.contains("error")) return found;
  if (answer != nullptr) *answer = std::move(found);
  std::string kind, what;
  try {
    kind = reply["error"].at(0).get<std::string>();
    what = reply["error"].at(1).get<std::string>();
  } catch (const json::exception& error) {
    refuse_answer(step.step, error.what());
  }
  if (kind == "environment") throw EnvironmentError(what);
  if (kind == "host sync") throw HostSyncError(what);
  trusted_ = false;
  if (kind == "internal") throw InternalError(what);
  throw BackendFailed(what);
}

json RemoteWorker::answer_to_posted() {
  while (posted_.size() > 1) next_answer(nullptr);
  return next_answer(nullptr);
}

json RemoteWorker::ask(const std::string& step, json request, json* answer) {
  while (!posted_.empty()) next_answer(nullptr);
  post(step, std::move(request));
  return next_answer(answer);
}

}  // namespace attnbench
