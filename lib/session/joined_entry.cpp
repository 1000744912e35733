// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/session/joined_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/backend/tuning.h"
#include "lib/base/error.h"
#include "lib/config/word_hints.h"
#include "lib/session/hybrid_entry.h"
#include "lib/session/pipeline_entry.h"

namespace attnbench {
namespace {

/// The command line of a process of Python that has the files of both; `other`'s where `one` is of
/// this program, whose backends every such process has.
std::vector<std::string> host_of_both(const std::vector<std::string>& one,
                                      const std::vector<std::string>& other) {
  if (one.empty() || one == other) return other;
  if (other.empty()) return one;
  // Files stand between the word "worker" and the library, which is the last.
  std::vector<std::string> host = one;
  const std::string& file = other[other.size() - 2];
  if (std::ranges::find(host, file) == host.end()) host.insert(host.end() - 1, file);
  return host;
}

}  // namespace

bool is_joined(std::string_view name) { return name.find(kPlus) != std::string_view::npos; }

void add_joined(Registry& registry, const std::string& name) {
  is_pipeline(name) ? add_pipeline(registry, name) : add_hybrid(registry, name);
}

void JoinedBackends::refuse(const std::string& why, const std::string& hint) const {
  throw ConfigError({Diagnostic{{}, 1, fmt::format("backend '{}': {}", name, why), hint, {}}});
}

void JoinedBackends::add_part(const std::string& wanted) {
  if (const Registry::Entry* entry = registry->find(wanted)) return parts.push_back(*entry);
  std::vector<std::string> names = registry->names();
  std::erase_if(names, [](const std::string& each) { return tuned_name(each).has_value(); });
  refuse(fmt::format("there is no backend '{}'", wanted),
         allowed_words_hint(names, wanted, allowed));
}

void JoinedBackends::expect_one_process() const {
  for (const Registry::Entry& one : parts) {
    for (const Registry::Entry& other : parts) {
      if (one.info.device != other.info.device) {
        refuse("one part runs on a GPU, the other on the processor",
               fmt::format("the parts of {} read one cache, so they run on one device", what));
      }
      const PythonEnvironment &here = one.info.environment, &there = other.info.environment;
      if (!here.python.empty() && !there.python.empty() && here != there) {
        refuse("its parts are of two environments", "one process runs all, in one of them");
      }
      // Backends of this program can be in a process with those of any file.
      const bool one_file =
          one.plugin.empty() || other.plugin.empty() || one.plugin == other.plugin;
      const bool both_python = one.plugin.ends_with(".py") && other.plugin.ends_with(".py");
      if (!one_file && !both_python) {
        refuse("its parts are of two plug-in files",
               fmt::format("{} can be of this program and a plug-in, of one .so file, or of .py "
                           "files",
                           what));
      }
    }
  }
}

void add_entry(Registry& registry, const JoinedBackends& of, BackendInfo info, JoinBackends join) {
  std::string plugin;
  std::vector<std::string> host;
  std::vector<Registry::Factory> make;
  for (const Registry::Entry& part : of.parts) {
    if (plugin.empty()) plugin = part.plugin;
    host = host_of_both(host, part.host);
    make.push_back(part.make);
  }
  for (const Registry::Entry& part : of.parts) {
    if (part.make) continue;
    registry.add_absent(std::move(info), part.info.name + ": " + part.absence, plugin);
    return;
  }
  if (!host.empty()) {
    registry.add_hosted(std::move(info), std::move(host), plugin);
    return;
  }
  registry.add(
      [make = std::move(make), join = std::move(join)] {
        std::vector<std::unique_ptr<Backend>> parts;
        for (const Registry::Factory& each : make) parts.push_back(each());
        return join(std::move(parts));
      },
      plugin);
}

}  // namespace attnbench
