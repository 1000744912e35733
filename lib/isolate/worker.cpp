// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/isolate/worker.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "lib/base/error.h"
#include "lib/base/exit_code.h"
#include "lib/device/cuda/cuda_error.h"
#include "lib/isolate/channel.h"
#include "lib/isolate/fields.h"
#include "lib/isolate/session_calls.h"
#include "lib/session/build_info.h"
#include "lib/session/joined_entry.h"
#include "lib/session/local_executor.h"

namespace attnbench {
namespace {

using nlohmann::json;

/// The child's side of a RemoteSession: executes its requests with a LocalSession.
class Worker {
 public:
  Worker(Registry registry, const AddBackends& others_of_pairs, Channel& channel)
      : registry_(std::move(registry)), others_of_pairs_(&others_of_pairs), channel_(&channel) {}

  void serve() {
    while (true) {
      const json request = channel_->receive({});
      json reply;
      reply["answer"] = nullptr;
      try {
        answer(request, reply["answer"]);
      } catch (const EnvironmentError& error) {
        reply["error"] = json::array({"environment", error.what()});
      } catch (const HostSyncError& error) {
        reply["error"] = json::array({"host sync", error.what()});
      } catch (const std::logic_error& error) {
        reply["error"] = json::array({"internal", error.what()});
      } catch (const std::exception& error) {
        reply["error"] = json::array({"failed", error.what()});
      }
      channel_->send(reply, {});
    }
  }

 private:
  /// What was found before a failure is answered along with it.
  void answer(const json& request, json& answer) {
    const auto step = request.at("step").get<std::string>();
    if (step == "starting") {
      start(request);
    } else if (step == "describing the device") {
      answer = to_json_fields(device_for(*entry_, devices_)->info());
    } else if (step == "measuring the device") {
      const std::vector<const Registry::Entry*> backends{entry_};
      answer = to_json_fields(executor_->prepare(backends).at(0).ceilings);
    } else if (step == "considering the case") {
      begin_case(request.at("case").get<std::string>(), request.at("part").get<StepPart>(),
                 request.at("rounds").get<int>(), request.at("sample_nonce").get<std::uint64_t>());
      const FormatChoice choice = session_->supports();
      answer = json::array({choice.support.reason(), to_json_fields(choice.layout)});
    } else if (step == "verifying") {
      const auto wanted = from_json_fields<WantedRows>(request.at("wanted"));
      session_->begin_observing(wanted);
      answer = to_json_fields(session_->observe());
    } else if (step == "warming up") {
      warm_up(request, answer);
    } else if (step == "taking samples") {
      take_samples(request, answer);
    } else if (step == "handing over outputs") {
      answer = to_json_fields(std::exchange(outputs_, {}));
    } else if (step == "leaving the case") {
      leave_case();
    } else if (!visit_call(step, [&](const auto& call) { answer = answer_to(call); })) {
      throw InternalError("a worker was asked for '" + step + "'");
    }
  }

  template <class Result>
  json answer_to(const SessionCall<Result>& call) {
    if constexpr (std::is_void_v<Result>) {
      (session_.get()->*call.method)();
      return nullptr;
    } else {
      return to_json_fields((session_.get()->*call.method)());
    }
  }

  void start(const json& request) {
    expects(request.at("build") == build_id(), "run and worker are of different builds");
    const auto name = request.at("backend").get<std::string>();
    if (is_joined(name)) {
      if (*others_of_pairs_) (*others_of_pairs_)(registry_);
      add_joined(registry_, name);
    }
    entry_ = registry_.find(name);
    expects(entry_ != nullptr, "run and worker know different backends");
    if (!entry_->make) throw std::runtime_error("its process lacks it: " + entry_->absence);
    const json& scenario = request.at("scenario");
    std::optional<CaseAxis> axis;
    if (!scenario.at("axis").is_null()) axis = from_json_fields<CaseAxis>(scenario.at("axis"));
    scenario_ = parse_scenario(scenario.at("text").get<std::string>(),
                               scenario.at("path").get<std::string>(),
                               scenario.at("seed").get<std::uint64_t>(), axis);
    DeviceOptions options;
    options.threads = request.at("threads").get<int>();
    options.cpu_target = cpu_target_named(request.at("cpu_target").get<std::string>());
    if (!request.at("gpu").is_null()) options.gpu = request.at("gpu").get<int>();
    const std::vector<const Registry::Entry*> backends{entry_};
    devices_ = open_devices(backends, options);
    executor_ = std::make_unique<LocalExecutor>(devices_, request.at("ceiling_turns").get<int>(),
                                                request.at("processes").get<int>());
  }

  void begin_case(const std::string& id, StepPart step, int rounds, std::uint64_t sample_nonce) {
    leave_case();
    const auto found = std::ranges::find(scenario_.cases, id, &Case::id);
    expects(found != scenario_.cases.end(), "run and worker know different cases");
    case_ = with_step(*found, step);
    set_sample_nonce(case_, sample_nonce);
    session_ = executor_->begin(case_, *entry_, rounds);
  }

  void leave_case() {
    cells_.clear();
    session_.reset();
  }

  void warm_up(const json& request, json& answer) {
    std::unique_ptr<SampleSource>& cell = cells_[request.at("cell").get<int>()];
    const auto cache = request.at("cache").get<CacheState>();
    const auto graph = from_json_fields<BatchedGraph>(request.at("batched_graph"));
    cell = graph.forwards > 0 ? session_->batched_samples(cache, graph)
                              : session_->samples(cache, request.at("launch").get<LaunchMode>());
    found_before_failing(WarmUp(), answer, [&](WarmUp& first) {
      cell->warm_up(first, request.at("enough_s").get<double>(),
                    request.at("limit_s").get<double>(), never_);
    });
  }

  void take_samples(const json& request, json& answer) {
    SampleSource& cell = *cells_.at(request.at("cell").get<int>());
    found_before_failing(SampleBlock(), answer, [&](SampleBlock& block) {
      cell.take(block, request.at("count").get<int>(), request.at("left_s").get<double>(), never_);
      outputs_ = std::exchange(block.outputs, {});
    });
  }

  template <class Found, class Step>
  static void found_before_failing(Found found, json& answer, const Step& step) {
    try {
      step(found);
    } catch (...) {
      answer = to_json_fields(found);
      throw;
    }
    answer = to_json_fields(std::move(found));
  }

  Registry registry_;
  const AddBackends* others_of_pairs_;
  Channel* channel_;
  const Registry::Entry* entry_ = nullptr;
  Scenario scenario_;
  Devices devices_;
  std::unique_ptr<LocalExecutor> executor_;
  Case case_;  ///< under way
  std::unique_ptr<Session> session_;
  std::map<int, std::unique_ptr<SampleSource>> cells_;
  std::vector<SampleOutputs> outputs_;  ///< of the visit before
  /// A run that stops kills its workers.
  SampleSource::Stop never_ = [] { return false; };
};

/// Gives up, for this process and all that it starts, what lets a superuser's process read or write
/// the memory of any other, signal it, or change its priority. A process of an ordinary user has
/// none of it. Processes of one user can still signal each other and bind each other to processors.
/// Where the system permits none of it, nothing is said: a run is as safe as the system lets it be.
void give_up_power_over_others() noexcept {
  std::uint32_t given_up = 0;
  for (const int capability : {CAP_KILL, CAP_SYS_PTRACE, CAP_SYS_NICE}) {
    given_up |= std::uint32_t{1} << capability;
    prctl(PR_CAPBSET_DROP, capability);  // else a program that it starts would have it again
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) return;
  sets[0].effective &= ~given_up;
  sets[0].permitted &= ~given_up;
  sets[0].inheritable &= ~given_up;
  syscall(SYS_capset, &header, sets.data());
}

}  // namespace

bool become_worker(pid_t parent) {
  // A backend that hangs reads no channel: only the kernel can end it when the run is killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) return false;  // it has ended already
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  give_up_power_over_others();
  for (const int signal : {SIGINT, SIGTERM}) std::signal(signal, SIG_DFL);
  fcntl(kWorkerDescriptor, F_SETFD, FD_CLOEXEC);  // processes of a backend do not inherit it
  std::setvbuf(stdout, nullptr, _IOLBF, 0);       // what is printed before a crash is seen
  return true;
}

int run_worker(const Registry& registry, pid_t parent, const AddBackends& others_of_pairs) {
  if (!become_worker(parent)) return static_cast<int>(ExitCode::kInternal);
  Channel channel(kWorkerDescriptor);
  try {
    Worker(registry, others_of_pairs, channel).serve();
  } catch (const ChannelClosed&) {
  }
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace attnbench
