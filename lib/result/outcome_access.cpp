// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/outcome_access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <variant>

#include "lib/base/error.h"

namespace attnbench {
namespace {

constexpr std::array kVerdicts = {
    Verdict::kNotVerified, Verdict::kPassed,  Verdict::kMistrusted, Verdict::kIncorrect,
    Verdict::kUnsupported, Verdict::kSkipped, Verdict::kCrashed};

Outcome outcome_of(Verdict verdict, std::string reason) {
  switch (verdict) {
    case Verdict::kNotVerified:
      return Accepted{Agreement::kNotVerified, Speed::kNone, std::move(reason)};
    case Verdict::kPassed:
      return Accepted{Agreement::kPassed, Speed::kNone, std::move(reason)};
    case Verdict::kMistrusted:
      return Accepted{Agreement::kMistrusted, Speed::kNone, std::move(reason)};
    case Verdict::kIncorrect:
      return Incorrect{std::move(reason)};
    case Verdict::kUnsupported:
      return Unsupported{std::move(reason)};
    case Verdict::kSkipped:
      return Skipped{std::move(reason)};
    case Verdict::kCrashed:
      return Crashed{std::move(reason)};
  }
  return {};
}

}  // namespace

FieldAccess reason_access() {
  return {[](const Record& r) { return Json(r.reason()); },
          [](Record& r, const std::string& text) { r.outcome = outcome_of(r.verdict(), text); },
          type_of<std::string>()};
}

FieldAccess verdict_access() {
  Json words = Json::array();
  for (const Verdict each : kVerdicts) words.push_back(to_string(each));
  return {[](const Record& r) { return Json(to_string(r.verdict())); },
          [](Record& r, const std::string& text) {
            const auto found = std::ranges::find_if(
                kVerdicts, [&](Verdict each) { return to_string(each) == text; });
            if (found == kVerdicts.end()) throw ConfigError(fmt::format("unknown word '{}'", text));
            r.outcome = outcome_of(*found, r.reason());
          },
          {{"enum", std::move(words)}}};
}

FieldAccess median_access() {
  FieldAccess access = member<&Record::timing, &CellTiming::median_us>();
  access.read = [](Record& r, const std::string& text) {
    from_text(text, r.timing.median_us);
    if (auto* const accepted = std::get_if<Accepted>(&r.outcome)) {
      accepted->speed = Speed::kClaimed;
    } else if (auto* const incorrect = std::get_if<Incorrect>(&r.outcome)) {
      incorrect->timed = true;
    } else {
      throw ConfigError(fmt::format("a time of a cell that is {}", to_string(r.verdict())));
    }
  };
  return access;
}

FieldAccess impossible_access() {
  return {[](const Record& r) { return Json(r.is_impossible()); },
          [](Record& r, const std::string& text) {
            bool impossible = false;
            from_text(text, impossible);
            if (!impossible) return;
            auto* const accepted = std::get_if<Accepted>(&r.outcome);
            if (accepted == nullptr || accepted->speed == Speed::kNone) {
              throw ConfigError(fmt::format("an impossible speed of a cell that claims none ({})",
                                            to_string(r.verdict())));
            }
            accepted->speed = Speed::kImpossible;
          },
          type_of<bool>()};
}

}  // namespace attnbench
