// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "apps/fuzz/fuzz_target.h"
#include "lib/backend/backend_info.h"
#include "lib/base/error.h"
#include "lib/isolate/channel.h"
#include "lib/isolate/fields.h"
#include "lib/isolate/session_calls.h"

namespace {

using attnbench::from_json_fields;

/// Takes the answer for what the parent may have asked for; another type's is refused.
template <class T>
void decode(const nlohmann::json& answer) {
  try {
    static_cast<void>(from_json_fields<T>(answer));
  } catch (const nlohmann::json::exception&) {
  } catch (const attnbench::InternalError&) {  // numbers that are cut short
  }
}

void decode_as_any(const nlohmann::json& answer) {
  decode<std::vector<attnbench::BackendInfo>>(answer);
  decode<attnbench::DeviceInfo>(answer);
  decode<attnbench::Ceilings>(answer);
  decode<attnbench::Observation>(answer);
  decode<std::vector<attnbench::Numerics>>(answer);
  decode<attnbench::PlanCost>(answer);
  decode<attnbench::RecordedPlan>(answer);
  decode<attnbench::IndexTiming>(answer);
}

}  // namespace

/// What a worker, and with it a plug-in that has taken it over, may send to the process that
/// judges.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
  attnbench::Channel here(ends[0]);
  const ssize_t sent = send(ends[1], bytes, size, MSG_DONTWAIT);
  close(ends[1]);
  if (sent != static_cast<ssize_t>(size)) return 0;  // longer than a socket holds
  try {
    const attnbench::Patience patience{std::chrono::steady_clock::now() + std::chrono::seconds(1),
                                       {}};
    while (true) decode_as_any(here.receive(patience)["answer"]);
  } catch (const attnbench::ChannelClosed&) {
  }
  return 0;
}
