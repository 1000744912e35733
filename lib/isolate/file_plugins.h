// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/backend/registry.h"
#include "lib/base/error.h"
#include "lib/isolate/child_output.h"

namespace attnbench {

/// The first argument of a program that is to describe a plug-in; the file and its parent's process
/// id follow.
constexpr const char* kDescribeCommand = "describe-plugin";

/// A plug-in's code crashed, exited or hung as it was loaded.
class PluginCrashed : public ConfigError {
 public:
  using ConfigError::ConfigError;
};

/// Registers the backends of the shared object at `path`, each of which runs in a process of this
/// program. Its code is never in this process: another one says what it holds. Throws as
/// load_plugin() does, and PluginCrashed.
void add_object_plugin(const std::string& path, const std::string& cuda_absence, Registry& registry,
                       const Describing& describing = {});

/// What such a process does: loads the object and prints its backends. Ends the process.
[[noreturn]] void describe_object_plugin(const std::string& path);

/// Registers a backend of the file at `path`: absent for this reason, or, where that is empty, run
/// by a process that `host` starts. Throws ConfigError where its name is taken.
void add_file_backend(BackendInfo info, const std::string& absence, std::vector<std::string> host,
                      const std::string& path, Registry& registry);

}  // namespace attnbench
