// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/registry.h"

namespace attnbench {

/// Whether a name joins those of several backends: a pair for the phases of a step
/// (hybrid_entry.h), or the three of a pipeline (pipeline_entry.h).
[[nodiscard]] bool is_joined(std::string_view name);
/// Adds the backend that such a name names, unless it is there. Throws ConfigError with what is
/// allowed.
void add_joined(Registry& registry, const std::string& name);

// For those files.

/// Between the names.
inline constexpr char kPlus = '+';

/// Several backends that one is to be made of.
struct JoinedBackends {
  const Registry* registry = nullptr;
  std::string name;     ///< of the one
  std::string what;     ///< "a pair"
  std::string allowed;  ///< "a pair is PREFILL+DECODE, of backends: "
  std::vector<Registry::Entry> parts = {};

  /// Throws ConfigError.
  [[noreturn]] void refuse(const std::string& why, const std::string& hint) const;
  void add_part(const std::string& wanted);
  /// Refuses parts that need two devices, or that no process can run together: each is a backend of
  /// this program, of one .so file, or of .py files.
  void expect_one_process() const;
};

using JoinBackends =
    std::function<std::unique_ptr<Backend>(std::vector<std::unique_ptr<Backend>> parts)>;
/// Adds `info`, which `join` makes of the parts, to the registry: absent where one of them is, and
/// in the process that all of them need.
void add_entry(Registry& registry, const JoinedBackends& of, BackendInfo info, JoinBackends join);

}  // namespace attnbench
