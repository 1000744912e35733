// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>

#include "lib/base/sha256.h"
#include "lib/run/driver.h"
#include "lib/session/build_info.h"

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
  const BuildInfo& build = build_info();
  e.version = build.version;
  e.git_sha = build.git_sha;
  e.build_type = build.build_type;
  e.compiler = build.compiler;
  e.flags = build.flags;
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
