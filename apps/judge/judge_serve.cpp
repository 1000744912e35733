// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/judge/judge_serve.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <string_view>

#include "lib/base/error.h"
#include "lib/base/system.h"
#include "lib/config/word_hints.h"
#include "lib/isolate/child_output.h"
#include "lib/isolate/child_process.h"
#include "lib/result/record.h"
#include "lib/summary/judgement_text.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

/// A key of a line and the option that it becomes; empty: a positional word, which must be there.
struct LineKey {
  std::string_view key, option;
};
constexpr std::array kKeys = {LineKey{"candidate", ""}, LineKey{"scenario", ""},
                              LineKey{"against", "--against"}, LineKey{"backend", "--backend"}};
constexpr std::string_view kId = "id";

void expect_known(const std::string& key) {
  std::vector<std::string_view> known{kId};
  for (const LineKey& each : kKeys) known.push_back(each.key);
  if (std::ranges::find(known, key) != known.end()) return;
  throw ConfigError(fmt::format("unknown key '{}'   {}", key,
                                allowed_words_hint(std::span<const std::string_view>(known), key)));
}

/// The words of a line behind `judge`. Throws ConfigError.
std::vector<std::string> words_of(const Json& line) {
  if (!line.is_object()) throw ConfigError("the line is no JSON object");
  for (const auto& [key, value] : line.items()) expect_known(key);
  std::vector<std::string> positional, options;
  for (const LineKey& each : kKeys) {
    const auto found = line.find(each.key);
    if (found == line.end() && !each.option.empty()) continue;
    if (found == line.end()) throw ConfigError(fmt::format("'{}' is missing", each.key));
    if (!found->is_string() || found->get<std::string>().empty()) {
      throw ConfigError(fmt::format("'{}' is no text", each.key));
    }
    if (each.option.empty()) {
      positional.push_back(found->get<std::string>());
    } else {
      options.push_back(fmt::format("{}={}", each.option, found->get<std::string>()));
    }
  }
  options.push_back("--");  // a file's name may look like an option
  options.insert(options.end(), positional.begin(), positional.end());
  return options;
}

/// The message of a process that found a mistake, without what the candidate printed before.
std::string message_in(const ChildOutput& output) {
  constexpr std::string_view kMark = "error: ";
  const std::size_t mark = ('\n' + output.text).rfind('\n' + std::string(kMark));
  if (mark == std::string::npos) return "the process that judged it " + output.end;
  std::string text = output.text.substr(mark + kMark.size());
  text.resize(text.find_last_not_of('\n') + 1);
  return text;
}

/// A verdict that the process's end confirms: a candidate may print what looks like one.
bool is_verdict(const Json& answer, const std::string& end) {
  if (!answer.is_object() || !answer.contains("verdict")) return false;
  return std::ranges::any_of(kCandidateVerdicts, [&](CandidateVerdict each) {
    return answer.at("verdict") == to_string(each) &&
           end == fmt::format("exited with code {}", verdict_exit_code(each));
  });
}

Json judged(const JudgeProcess& process, const Json& line) {
  const TemporaryFolder scratch("judge");  // which a process that is killed cannot remove
  std::vector<std::string> words{
      ChildProcess::kThisProgram, "judge",     "--json",         "-", "--parent",
      std::to_string(getpid()),   "--scratch", scratch.file(".")};
  words.insert(words.end(), process.options.begin(), process.options.end());
  for (std::string& word : words_of(line)) words.push_back(std::move(word));
  const ChildOutput output = output_of_child(std::move(words), process.limit);
  Json answer = Json::parse(output.last_line(), nullptr, false);
  if (is_verdict(answer, output.end)) return answer;
  if (output.end.starts_with("exited with code")) return {{"error", message_in(output)}};
  if (output.end.starts_with("gave no answer")) {
    return judgement_json(
        verdict_without_cells(CandidateVerdict::kInconclusive,
                              "the process that judged it " + output.end + " (--limit)"));
  }
  return judgement_json(verdict_without_cells(CandidateVerdict::kCrashed,
                                              "the process that judged it " + output.end));
}

Json answer_to(const JudgeProcess& process, const std::string& text) {
  double seconds = 0;
  const Lap lap(seconds);
  const Json line = Json::parse(text, nullptr, false);
  Json answer;
  if (line.is_object() && line.contains(kId)) answer[kId] = line.at(kId);
  try {
    answer.update(judged(process, line));
  } catch (const ConfigError& error) {
    answer["error"] = error.diagnostics().front().message;
  } catch (const EnvironmentError& error) {
    answer["error"] = error.what();
  }
  answer["seconds"] = lap.seconds();
  return answer;
}

}  // namespace

void serve_judgements(const JudgeProcess& process, std::istream& in, Console& console) {
  for (std::string line; std::getline(in, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    console.out << answer_to(process, line).dump(-1, ' ', false, Json::error_handler_t::replace)
                << std::endl;
    if (!console.out) return;
  }
}

}  // namespace attnbench
