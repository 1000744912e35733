// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace attnbench {

/// What a message shows of a source line, and where in it the underline stands.
struct SourceExcerpt {
  std::string text;  ///< printable; a long line is cut to what lies around the place
  int column = 1;    ///< of the place in `text`, in characters from 1
  int length = 1;    ///< characters to underline
};

/// The line around the stretch of `length` bytes at byte `begin` (from 0; both may lie beyond the
/// line's end).
[[nodiscard]] SourceExcerpt excerpt(std::string_view line, std::size_t begin, std::size_t length);

/// Characters of UTF-8 text: the columns that an editor counts.
[[nodiscard]] int characters(std::string_view text);

/// `text` as a message shows it: printable, and no longer than about `limit` bytes.
[[nodiscard]] std::string shortened(std::string_view text, std::size_t limit);

}  // namespace attnbench
