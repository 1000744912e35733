// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/batch_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "lib/config/size_literal.h"

namespace attnbench {
namespace {

constexpr const char* kForm =
    "a segment is [count]q<new tokens>[k][s<all keys>[k]], as in 2q1ks4k_32q1s2k";
constexpr std::int64_t kLimit = std::int64_t{1} << 31;  // index arrays are 32 bits wide

/// Reads a segment from left to right; every take_ moves on only when it succeeds.
class SegmentReader {
 public:
  SegmentReader(std::string_view text, std::size_t offset) : text_(text), offset_(offset) {}

  std::variant<BatchSegment, BatchStringError> read() {
    const std::optional<std::int64_t> count = take_number(false);
    if (!take('q')) return fail_at_cursor();
    const std::optional<std::int64_t> q_len = take_number(true);
    if (!q_len) return fail_at_cursor();
    std::optional<std::int64_t> kv_len = q_len;
    if (take('s')) {
      kv_len = take_number(true);
      if (!kv_len) return fail_at_cursor();
    }
    if (at_ < text_.size()) return fail_at_cursor();
    return checked({count.value_or(1), *q_len, *kv_len});
  }

 private:
  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::optional<std::int64_t> take_number(bool with_suffix) {
    std::size_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end == at_) return std::nullopt;
    if (with_suffix && end < text_.size() && text_[end] == 'k') ++end;
    // Too large for 64 bits counts as the limit, so that the range check names it.
    const std::int64_t value = parse_size(text_.substr(at_, end - at_)).value_or(kLimit);
    at_ = end;
    return value;
  }

  BatchStringError whole(std::string message, std::string hint) const {
    return {offset_, std::max<std::size_t>(text_.size(), 1), std::move(message), std::move(hint)};
  }

  BatchStringError fail_at_cursor() const {
    if (text_.empty()) return {offset_, 1, "empty segment in batch string", kForm};
    if (at_ >= text_.size()) {
      return whole(fmt::format("segment '{}' of the batch string ends too early", text_), kForm);
    }
    const std::string_view rest = text_.substr(at_);
    if (text_.find("kv") != std::string_view::npos) {
      return whole(fmt::format("'{}' is vLLM's older batch syntax", text_),
                   "write s instead of kv: 8q1s1k, not 8q1kv1k");
    }
    // A segment that ends in a line break would tear the message apart.
    const std::string_view shown = text_.substr(0, text_.find('\n'));
    std::string hint = kForm;
    if (rest.front() == '.') hint = "lengths are whole numbers; 1536 instead of 1.5k";
    if (std::ranges::any_of(text_, [](char c) { return c >= 'A' && c <= 'Z'; })) {
      hint = "batch strings are lower case: q, s, k";
    }
    return {offset_ + at_, 1,
            fmt::format("unexpected '{}' in segment '{}' of the batch string",
                        rest.front() == '\n' ? "\\n" : std::string(1, rest.front()), shown),
            hint};
  }

  std::variant<BatchSegment, BatchStringError> checked(BatchSegment s) const {
    if (s.count == 0)
      return whole(fmt::format("'{}' has no request", text_), "a count is 1 or more");
    if (s.q_len == 0) {
      return whole(fmt::format("'{}' has no query token", text_), "q is 1 or more: q1 is a decode");
    }
    for (const std::int64_t value : {s.count, s.q_len, s.kv_len}) {
      if (value >= kLimit)
        return whole(fmt::format("'{}' is too large", text_), "the limit is 2^31 - 1");
    }
    if (s.kv_len < s.q_len) {
      return whole(
          fmt::format("'{}': kv_len {} is shorter than q_len {}", text_, s.kv_len, s.q_len),
          "s counts all keys, a step's new tokens included");
    }
    return s;
  }

  std::string_view text_;
  std::size_t offset_;
  std::size_t at_ = 0;
};

}  // namespace

std::variant<std::vector<BatchSegment>, BatchStringError> parse_batch_string(
    std::string_view text) {
  std::vector<BatchSegment> segments;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('_', begin), text.size());
    auto segment = SegmentReader(text.substr(begin, end - begin), begin).read();
    if (auto* error = std::get_if<BatchStringError>(&segment)) return std::move(*error);
    segments.push_back(std::get<BatchSegment>(segment));
    begin = end + 1;
  }
  return segments;
}

}  // namespace attnbench
