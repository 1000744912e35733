// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/backend/include/attnbench/backend.h"
#include "lib/backend/registry.h"

namespace attnbench {

/// Throws ConfigError where a plug-in's backend must not be called so; `where` is as below.
void check_backend_name(const std::string& name, const std::string& where);
/// What a plug-in's backend says that it builds, "csr page_table". Throws ConfigError where a word
/// is none of these.
[[nodiscard]] std::vector<IndexForm> index_forms_of(const std::string& words,
                                                    const std::string& backend,
                                                    const std::string& where);

/// Registers the backends that `count` tables describe, which live until the program ends. Throws
/// ConfigError when a table is invalid or its name is taken; `where` names the origin of the tables
/// in messages and in Registry::Entry::plugin. GPU backends are registered as absent, with
/// `cuda_absence` as the reason, unless that is empty.
void register_tables(const attnbench_backend* tables, std::size_t count, const std::string& where,
                     const std::string& cuda_absence, Registry& registry);

/// Loads the shared object at `path` and registers the backends that it exports as
/// register_tables() does. It stays loaded until the program ends. Throws ConfigError, too, when
/// there is no such file, and when it is no plug-in or one of another version of the interface.
void load_plugin(const std::string& path, const std::string& cuda_absence, Registry& registry);

}  // namespace attnbench
