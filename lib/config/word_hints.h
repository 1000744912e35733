// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace attnbench {

/// What engines, libraries and config files call otherwise: 'window' for "sliding_window", 'e4m3'
/// for "fp8", in whatever case; any other word as it is.
[[nodiscard]] std::string_view own_word(std::string_view found);

/// "did you mean 'paged_fa'?   allowed here: splitkv paged_fa ..."; the question only if a word is
/// near.
[[nodiscard]] std::string allowed_words_hint(std::span<const std::string_view> words,
                                             std::string_view found,
                                             std::string_view introduction = "allowed here: ");
[[nodiscard]] std::string allowed_words_hint(std::span<const std::string> words,
                                             std::string_view found,
                                             std::string_view introduction = "allowed here: ");

}  // namespace attnbench
