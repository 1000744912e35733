// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace attnbench {

/// A place in a text file; line and column count from 1, line 0 means "the file as a whole".
struct SourcePosition {
  std::string file;
  int line = 0;
  int column = 0;
};

/// One mistake: where, what was found, what would be allowed.
struct Diagnostic {
  SourcePosition where;
  int length = 1;       ///< characters to underline
  std::string message;  ///< "unknown key 'kvlen' in mixes.chat.batch[0]"
  std::string hint;     ///< "did you mean 'kv_len'?   allowed here: name count …"; may be empty
  std::string source_line;  ///< the line at `where`, shown above the underline; may be empty
};

/// "file:line:column: error: message", the source line with its underline, then the hint;
/// printable() throughout.
[[nodiscard]] std::string render(const Diagnostic& diagnostic);

/// A mistake of the user in a scenario, a command line or a file: exit code 4.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(const std::string& message);
  /// All mistakes of a file at once, in the order of their places.
  explicit ConfigError(std::vector<Diagnostic> diagnostics);

  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const noexcept { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// The machine cannot do what was asked (no memory, disk full, no such device): exit code 5.
class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A defect of attnbench itself: exit code 70.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError unless `condition` holds.
void expects(bool condition, std::string_view what);

/// What `found` was probably meant to be, quoted: the name nearest to it by edit distance, or the
/// up to three names that it is a part of: "'a'", "'a', 'b' or 'c'". Empty when no name is near.
[[nodiscard]] std::string likely_names(std::string_view found,
                                       std::span<const std::string_view> names);
[[nodiscard]] std::string likely_names(std::string_view found, std::span<const std::string> names);

}  // namespace attnbench
