// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <iosfwd>
#include <string>

namespace attnbench {

/// Writes a file so that a reader never sees a part of it: to "<path>.part" first, renamed when
/// complete. A symbolic link stays one: the file that it names is written. "-" and anything that is
/// no regular file (a pipe, a device) is written directly. Throws EnvironmentError with the path
/// and the system's reason.
void write_result_file(const std::string& path, std::ostream& standard_output,
                       const std::function<void(std::ostream&)>& write);

/// Throws as write_result_file would for a folder that is missing or a file that may not be
/// written, and leaves nothing behind.
void expect_writable(const std::string& path);

/// Compares files, not spellings: links and relative parts are resolved.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

/// The file that `path` names, symbolic links followed, whether or not there is one yet.
[[nodiscard]] std::string link_target(const std::string& path);

}  // namespace attnbench
