// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/backend/backend.h"

namespace attnbench {

/// The backends of this program by name. Filled explicitly (backends/register.h), never by static
/// initialisers: linkers drop those from static libraries, and the order in
/// which they run is not defined.
class Registry {
 public:
  using Factory = std::function<std::unique_ptr<Backend>()>;

  struct Entry {
    BackendInfo info;
    Factory make;         ///< empty when the backend is absent
    std::string absence;  ///< why it is absent ("built without nvcc"); empty when it can run
    std::string plugin;   ///< file that it comes from; empty: it is part of the program
    /// Command line of the process in which it runs, without the last word, which is the parent's
    /// process id. Empty: it runs in any process of this program.
    std::vector<std::string> host;
  };

  /// Registers a backend that can run. Throws InternalError on a name already taken.
  void add(Factory make, std::string plugin = {});
  /// Registers a backend that this build or machine lacks, with the reason. It is still listed.
  void add_absent(BackendInfo info, std::string reason, std::string plugin = {});

  /// Registers a backend that runs in a process of its own. Its factory throws EnvironmentError,
  /// because it cannot run in this process.
  void add_hosted(BackendInfo info, std::vector<std::string> host, std::string plugin);

  [[nodiscard]] std::span<const Entry> entries() const { return entries_; }
  /// Null when there is no such backend. One that only the environment v33 has is also called
  /// "v33/NAME".
  [[nodiscard]] const Entry* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::vector<Entry> entries_;
};

}  // namespace attnbench
