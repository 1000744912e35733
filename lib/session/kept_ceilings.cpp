// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/kept_ceilings.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "lib/base/sha256.h"
#include "lib/measure/measure.h"

namespace attnbench {
namespace {

using nlohmann::json;

std::string utc_text() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc)};
}

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What /proc/self/status says behind `name`.
std::string status_of(const std::string& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return {};
}

/// A rate that a machine can have.
bool is_rate(const json& value) {
  return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0;
}

}  // namespace

std::string KeptCeilings::key_of(const DeviceInfo& device) const {
  // Without the memory that is free, which changes from run to run.
  return fmt::format("{}; {} {} {} units {} cache {} target {} driver {} cuda {}", rules_.machine,
                     to_string(device.kind), device.name, device.arch, device.units,
                     device.last_level_cache_bytes, to_string(device.cpu_target), device.driver,
                     device.cuda_version);
}

std::filesystem::path KeptCeilings::file_of(const DeviceInfo& device) const {
  return rules_.folder / fmt::format("ceilings-{}.json", sha256_hex(key_of(device)).substr(0, 16));
}

std::optional<KeptCeilings::Found> KeptCeilings::find(const DeviceInfo& device) const {
  if (rules_.folder.empty() || rules_.machine.empty()) return {};
  const json kept = json::parse(text_of(file_of(device)), nullptr, false);
  if (!kept.is_object() || kept.value("key", json()) != json(key_of(device))) return {};
  const json read = kept.value("read_bytes_per_s", json());
  const json copy = kept.value("copy_bytes_per_s", json());
  const json flop = kept.value("flop_per_s", json());
  const json when = kept.value("measured_utc", json());
  if (!is_rate(read) || !is_rate(copy) || !is_rate(flop) || !when.is_string()) return {};
  return Found{{read.get<double>(), copy.get<double>(), flop.get<double>()},
               when.get<std::string>()};
}

void KeptCeilings::keep(const DeviceInfo& device, const Ceilings& ceilings) const {
  if (rules_.folder.empty() || rules_.machine.empty() || !rules_.keeps) return;
  const json kept{{"key", key_of(device)},
                  {"measured_utc", utc_text()},
                  {"read_bytes_per_s", ceilings.read_bytes_per_s},
                  {"copy_bytes_per_s", ceilings.copy_bytes_per_s},
                  {"flop_per_s", ceilings.flop_per_s}};
  std::error_code failed;
  std::filesystem::create_directories(rules_.folder, failed);
  // Under a name of its own first, so that runs at the same time never read half a file.
  const std::filesystem::path path = file_of(device);
  std::string written = path.string() + ".XXXXXX";
  const int file = mkstemp(written.data());
  if (file < 0) return;
  const std::string text = kept.dump(1, ' ', false, json::error_handler_t::replace) + '\n';
  const bool whole = write(file, text.data(), text.size()) == std::ssize(text);
  if (close(file) == 0 && whole) std::filesystem::rename(written, path, failed);
  if (!whole || failed) std::filesystem::remove(written, failed);
}

void KeptCeilings::find_or_measure(RunDevice& device, std::function<Ceilings()> measure) const {
  // A copy: what it returns may be called when this object is gone.
  const auto measure_now = [kept = *this, info = device.info, measure = std::move(measure)] {
    const std::function<bool()> disturbed =
        kept.rules_.watch ? kept.rules_.watch() : std::function<bool()>();
    const Ceilings ceilings = measure();
    if (!disturbed || !disturbed()) kept.keep(info, ceilings);
    return ceilings;
  };
  device.measure_again = measure_now;
  if (const std::optional<Found> found = rules_.finds ? find(device.info) : std::nullopt) {
    device.ceilings = found->ceilings;
    device.ceilings_utc = found->measured_utc;
    return;
  }
  device.ceilings_s = time_host([&] { device.ceilings = measure_now(); }, 1).max_us / 1e6;
}

std::filesystem::path cache_folder() {
  // An empty or relative value counts as none (XDG Base Directory Specification).
  const char* const xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg == '/') return std::filesystem::path(xdg) / "attnbench";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::filesystem::path(home) / ".cache/attnbench";
  return {};
}

std::string this_machine() {
  std::string boot = text_of("/proc/sys/kernel/random/boot_id");
  std::erase(boot, '\n');
  struct stat program {};
  if (boot.empty() || stat("/proc/self/exe", &program) != 0) return {};
  const char* const gpus = std::getenv("CUDA_VISIBLE_DEVICES");
  return fmt::format("boot {} program {}/{}/{}.{:09} processors {} gpus {}", boot, program.st_ino,
                     program.st_size, program.st_mtim.tv_sec, program.st_mtim.tv_nsec,
                     status_of("Cpus_allowed:"), gpus != nullptr ? gpus : "all");
}

}  // namespace attnbench
