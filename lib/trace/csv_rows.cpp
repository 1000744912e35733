// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <csv.h>
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "lib/base/error.h"
#include "lib/config/value_reader.h"
#include "lib/trace/block_numbers.h"
#include "lib/trace/row_readers.h"
#include "lib/trace/timestamp.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using CsvRows = io::CSVReader<5, io::trim_chars<' ', '\t'>, io::double_quote_escape<',', '"'>,
                              io::throw_on_overflow, io::empty_line_comment>;

/// Tokens of a page in vLLM unless it is told otherwise (CacheConfig.block_size): whole ones are
/// shared.
constexpr std::int64_t kPageTokens = 16;

/// What is wrong with a row.
struct RowFault {
  std::string what;
};

std::int64_t whole_number_in(std::string_view column, const char* text, std::int64_t least) {
  const std::string_view word = text == nullptr ? "" : text;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error == std::errc() && end == word.data() + word.size() && value >= least &&
      value <= kMostTokens) {
    return value;
  }
  throw RowFault{fmt::format("{} is '{}', not a whole number from {} to {}", column,
                             cut_to_width(word, 40), least, kMostTokens)};
}

double arrival_in(const TraceFormat& format, const char* text) {
  const std::string_view word = text == nullptr ? "" : text;
  const bool is_date = format.name == "azure";
  const std::optional<double> seconds = is_date ? timestamp_s(word) : parse_number(word);
  if (seconds && *seconds >= 0 && *seconds <= kLastArrival) return *seconds;
  throw RowFault{
      fmt::format("{} is '{}', not {}", format.arrival, cut_to_width(word, 40),
                  is_date ? "a time such as 2023-11-16 18:15:46.68" : "seconds from 0 to 1e+10")};
}

/// What the columns prefix_group and prefix_tokens say: requests of a group share as many of its
/// tokens as each of them has.
class PrefixGroups {
 public:
  explicit PrefixGroups(Trace& trace) : trace_(trace) {}
  ~PrefixGroups() { trace_.distinct_blocks = tree_.size(); }
  PrefixGroups(const PrefixGroups&) = delete;
  PrefixGroups& operator=(const PrefixGroups&) = delete;

  void add(TracedRequest& request, const std::string& group, std::int64_t tokens) {
    const auto number = numbers_.try_emplace(group, numbers_.size()).first->second;
    request.first_block = trace_.blocks.size();
    request.blocks = static_cast<std::size_t>(tokens / kPageTokens);
    BlockNumbers::Block block;
    for (std::size_t i = 0; i < request.blocks; ++i) {
      block = tree_.child(block, number);
      trace_.blocks.push_back(block.number);
    }
  }

 private:
  Trace& trace_;
  BlockNumbers tree_;
  std::map<std::string, std::size_t> numbers_;
};

using CsvRow = std::array<char*, 5>;

TracedRequest request_in(const TraceFormat& format, const CsvRow& row) {
  TracedRequest request;
  request.arrival_s = arrival_in(format, row[0]);
  request.input_tokens = whole_number_in(format.input, row[1], 1);
  request.output_tokens = whole_number_in(format.output, row[2], 0);
  return request;
}

/// Tokens of the group's prefix; 0: the row is of no group.
std::int64_t prefix_in(const CsvRow& row, std::int64_t input_tokens) {
  const bool has_group = row[3] != nullptr && *row[3] != '\0';
  const bool has_tokens = row[4] != nullptr && *row[4] != '\0';
  if (!has_group && !has_tokens) return 0;
  if (!has_group) throw RowFault{"prefix_tokens without a prefix_group"};
  const std::int64_t tokens = whole_number_in("prefix_tokens", row[4], 0);
  if (tokens <= input_tokens) return tokens;
  throw RowFault{fmt::format("prefix_tokens is {}, more than the {} of the whole prompt", tokens,
                             input_tokens)};
}

void read_header(CsvRows& rows, const TraceFormat& format, Trace& trace) {
  const std::string arrival(format.arrival), input(format.input), output(format.output);
  rows.read_header(io::ignore_extra_column | io::ignore_missing_column, arrival, input, output,
                   "prefix_group", "prefix_tokens");
  for (const std::string& column : {arrival, input, output}) {
    if (rows.has_column(column)) continue;
    throw ConfigError(fmt::format("{}:1: column '{}' is missing, which --format {} needs",
                                  trace.file, column, format.name));
  }
  if (rows.has_column("prefix_group") != rows.has_column("prefix_tokens")) {
    throw ConfigError(fmt::format(
        "{}:1: of the columns prefix_group and prefix_tokens one is missing", trace.file));
  }
  if (rows.has_column("prefix_group")) trace.block_tokens = kPageTokens;
}

/// What the parser says of a line that it cannot cut into columns.
std::string reason_of_line(const io::error::base& error) {
  if (dynamic_cast<const io::error::too_few_columns*>(&error) != nullptr) {
    return "fewer columns than the header has";
  }
  if (dynamic_cast<const io::error::too_many_columns*>(&error) != nullptr) {
    return "more columns than the header has";
  }
  return "a quote that does not end on its line";
}

}  // namespace

void read_csv_rows(std::istream& file, const TraceFormat& format, Trace& trace) {
  try {
    CsvRows rows(trace.file, file);
    read_header(rows, format, trace);
    PrefixGroups groups(trace);
    for (;;) {
      CsvRow row{};  // absent columns stay without a text
      try {
        if (!rows.read_row(row[0], row[1], row[2], row[3], row[4])) break;
        TracedRequest request = request_in(format, row);
        const std::int64_t prefix = prefix_in(row, request.input_tokens);
        if (request.output_tokens == 0) {
          ++trace.unanswered;
          continue;
        }
        if (prefix > 0) groups.add(request, row[3], prefix);
        trace.requests.push_back(request);
      } catch (const RowFault& fault) {
        trace.faults.add(trace.file, rows.get_file_line(), fault.what);
      } catch (const io::error::line_length_limit_exceeded&) {
        throw;  // the parser stays at this line for ever
      } catch (const io::error::base& error) {
        trace.faults.add(trace.file, rows.get_file_line(), reason_of_line(error));
      }
    }
  } catch (const io::error::base& error) {
    throw ConfigError(fmt::format("{}: {}", trace.file, error.what()));
  }
}

}  // namespace attnbench
