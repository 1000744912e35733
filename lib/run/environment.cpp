// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <build_info.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "lib/base/sha256.h"
#include "lib/run/driver.h"

namespace attnbench {
namespace {

/// The name of the distribution; "" where there is no os-release file.
std::string distribution() {
  std::ifstream file("/etc/os-release");
  for (std::string line; std::getline(file, line);) {
    constexpr std::string_view kKey = "PRETTY_NAME=";
    if (!line.starts_with(kKey)) continue;
    std::string name = line.substr(kKey.size());
    std::erase(name, '"');
    return name;
  }
  return {};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  const std::size_t length = std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text, length};
}

}  // namespace

Environment describe_environment(const DeviceInfo& device) {
  Environment e;
  e.version = ATTNBENCH_VERSION;
  e.git_sha = ATTNBENCH_GIT_SHA;
  e.build_type = ATTNBENCH_BUILD_TYPE;
  e.compiler = ATTNBENCH_COMPILER;
  e.flags = ATTNBENCH_FLAGS;
  utsname system{};
  if (uname(&system) == 0) {
    e.os = fmt::format("{} {} {}", system.sysname, system.release, system.machine);
    // Results are published. The hash shows whether two come from one machine, without its name.
    e.hostname_hash = sha256_hex(system.nodename).substr(0, 12);
  }
  const std::string name = distribution();
  if (!name.empty()) e.os = name + ", " + e.os;
  e.device = device;
  e.threads = device.units;
  e.started_utc = utc_now();
  return e;
}

}  // namespace attnbench
