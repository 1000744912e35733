// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <ostream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/problems.h"
#include "lib/config/source_excerpt.h"
#include "lib/scenario/scenario.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

/// A scenario that is wrong, and what its author reads. A file of the corpus holds many, one after
/// another:
///
///   #### name
///   the scenario's lines
///   #### is refused with
///   the message's lines
struct Refusal {
  std::string name, scenario, message;

  friend void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }
};

std::vector<Refusal> read_corpus(const fs::path& path) {
  constexpr std::string_view kMarker = "#### ";
  std::vector<Refusal> corpus;
  std::string* part = nullptr;
  std::ifstream file(path, std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (line == "#### is refused with" && part != nullptr && part == &corpus.back().scenario) {
      part = &corpus.back().message;
    } else if (line.starts_with(kMarker)) {
      corpus.push_back({line.substr(kMarker.size()), "", ""});
      part = &corpus.back().scenario;
    } else if (part != nullptr) {
      *part += line + '\n';
    } else {
      throw std::runtime_error(path.string() + " does not begin with '#### name'");
    }
  }
  return corpus;
}

std::vector<Refusal> all_refusals() {
  std::vector<Refusal> all;
  const fs::path folder = fs::path(ATTNBENCH_SOURCE_DIR) / "lib/scenario/testdata/bad";
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::vector<Refusal> corpus = read_corpus(entry.path());
    all.insert(all.end(), corpus.begin(), corpus.end());
  }
  std::ranges::sort(all, {}, &Refusal::name);
  return all;
}

/// The file goes by its name alone, so that the text is the same everywhere.
std::string message_for(const Refusal& refusal) {
  try {
    static_cast<void>(parse_scenario(refusal.scenario, refusal.name + ".yaml"));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "accepted\n";
}

class BadScenario : public testing::TestWithParam<Refusal> {};

TEST_P(BadScenario, is_refused_with_the_recorded_message) {
  EXPECT_EQ(message_for(GetParam()), GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(Corpus, BadScenario, testing::ValuesIn(all_refusals()),
                         [](const auto& refusal) { return refusal.param.name; });

TEST(BadScenarios, number_at_least_sixty) { EXPECT_GE(all_refusals().size(), 60u); }

TEST(BadScenarios, each_name_a_line_unless_the_whole_file_is_wrong) {
  for (const Refusal& refusal : all_refusals()) {
    if (refusal.name == "empty_file" || refusal.name == "only_a_comment") continue;
    try {
      static_cast<void>(parse_scenario(refusal.scenario, refusal.name));
      ADD_FAILURE() << refusal.name << " was accepted";
    } catch (const ConfigError& error) {
      int last_line = 0;
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        EXPECT_GT(diagnostic.where.line, 0) << refusal.name;
        EXPECT_GT(diagnostic.where.column, 0) << refusal.name;
        EXPECT_GE(diagnostic.where.line, last_line) << refusal.name << ": not in the file's order";
        last_line = diagnostic.where.line;
      }
    }
  }
}

using namespace std::string_view_literals;

/// What the underline of an excerpt stands below.
std::string underlined(const SourceExcerpt& shown) {
  std::string text;
  int column = 0;
  for (const char c : shown.text) {
    if ((static_cast<unsigned char>(c) & 0xc0u) != 0x80u) ++column;
    if (column >= shown.column && column < shown.column + shown.length) text += c;
  }
  return text;
}

TEST(SourceExcerpt, of_a_short_line_is_the_line) {
  const SourceExcerpt shown = excerpt("a: {größe: 5}", 13, 1);
  EXPECT_EQ(shown.text, "a: {größe: 5}");
  EXPECT_EQ(underlined(shown), "5");
  EXPECT_EQ(shown.column, 12);
}

TEST(SourceExcerpt, of_a_long_line_lies_around_the_place) {
  for (const std::size_t before : {0u, 1u, 59u, 60u, 61u, 500u, 5'000'000u}) {
    for (const std::size_t behind : {0u, 30u, 5'000'000u}) {
      const std::string line = std::string(before, 'x') + "here" + std::string(behind, 'y');
      const SourceExcerpt shown = excerpt(line, before, 4);
      EXPECT_EQ(underlined(shown), "here") << before << " " << behind;
      EXPECT_LT(shown.text.size(), 170u);
    }
  }
}

TEST(SourceExcerpt, cuts_no_character_in_two) {
  std::string line;
  for (int i = 0; i < 400; ++i) line += "ö";
  for (std::size_t at = 300; at < 310; at += 2) {
    const SourceExcerpt shown = excerpt(line, at, 2);
    EXPECT_EQ(shown.text.find("\\x"), std::string::npos) << shown.text;
    EXPECT_EQ(underlined(shown), "ö");
  }
}

TEST(SourceExcerpt, shows_what_would_steer_a_terminal_and_stays_below_the_place) {
  EXPECT_EQ(underlined(excerpt("a\x1b[31m: here"sv, 8, 4)), "here");
  EXPECT_EQ(underlined(excerpt("\0\0here"sv, 2, 4)), "here");
}

std::string message_of(const std::string& scenario) {
  try {
    static_cast<void>(parse_scenario(scenario, "s.yaml"));
  } catch (const ConfigError& error) {
    return error.what();  // as far as a NUL, as a caller reads it
  }
  return "accepted";
}

TEST(Problems, with_a_nul_in_a_value_are_shown_whole) {
  const std::string message =
      message_of("foo: 1\ndefaults: {model: \"a\\0b\"}\nmixes: {a: {batch: 1q1}}\nzzz: 1\n");
  EXPECT_NE(message.find("unknown model 'a\\x00b'"), std::string::npos) << message;
  EXPECT_NE(message.find("unknown key 'zzz'"), std::string::npos) << message;
}

TEST(Problems, beyond_the_first_fifty_of_a_file_are_counted) {
  std::string scenario = "defaults: {model: llama-3.1-8b}\nmixes: {m: {batch: [{mode: decod}";
  for (int i = 1; i < 4000; ++i) scenario += ", {mode: decod}";
  const std::string message = message_of(scenario + "]}}\nzzz: 1\n");
  EXPECT_LT(message.size(), 50'000u);
  EXPECT_NE(message.find("... and 3951 more"), std::string::npos)
      << message.substr(message.size() - 300);
  EXPECT_EQ(message.find("zzz"), std::string::npos) << "the last of the file is none of the first";
}

TEST(Problems, of_a_long_line_are_underlined_within_its_excerpt) {
  const std::string message = message_of("mixes: {m: {batch: q1s4, " + std::string(400, ' ') +
                                         "dtypo: bf16" + std::string(400, ' ') + "}}\n");
  const auto line = message.find(" 1 | …");
  ASSERT_NE(line, std::string::npos) << message;
  EXPECT_NE(message.find("s.yaml:1:426: error: unknown key 'dtypo'"), std::string::npos) << message;
  const std::string text = message.substr(message.rfind('\n', line) + 1);
  const std::string shown = text.substr(0, text.find('\n'));
  const std::string marks = text.substr(shown.size() + 1, text.find('\n', shown.size() + 1));
  // The cut is three bytes and one column.
  EXPECT_EQ(shown.find("dtypo") - 2, marks.find("^~~~~"));
}

TEST(Problems, of_a_long_line_without_advice_end_with_the_underline) {
  const std::string message = message_of("mixes: {m: {batch: q1s4, " + std::string(400, ' ') +
                                         "tp: 0" + std::string(400, ' ') + "}}\n");
  EXPECT_NE(message.find("^\n"), std::string::npos) << message;
  EXPECT_EQ(message.find(" \n"), std::string::npos) << message;
}

TEST(Problems, are_one_line_each_whatever_they_quote) {
  const std::string message = message_of("\"a\\nb\": 1\nmixes: {m: {batch: \"q\\n1\"}}\n");
  EXPECT_NE(message.find("unknown key 'a\\nb' at the top level"), std::string::npos) << message;
}

TEST(Problems, of_a_bottomless_file_say_so) {
  constexpr std::size_t kDeep = 20'000;
  const std::string lists = std::string(kDeep, '[') + std::string(kDeep, ']');
  EXPECT_NE(message_of("mixes: " + lists).find("lists and maps stand too deep inside each other"),
            std::string::npos)
      << message_of("mixes: " + lists);
}

TEST(Problems, do_not_repeat_a_value_that_fills_the_file) {
  const std::string message =
      message_of("mixes: {m: {batch: q1s4, dtype: " + std::string(5'000'000, 'a') + "}}\n");
  EXPECT_LT(message.size(), 5'000u);
  EXPECT_NE(message.find("unknown word 'aaaa"), std::string::npos);
}

}  // namespace
}  // namespace attnbench
