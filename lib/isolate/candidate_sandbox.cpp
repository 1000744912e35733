// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/isolate/child_output.h"
#include "lib/isolate/child_process.h"
#include "lib/isolate/sandbox.h"

namespace attnbench {

std::string missing_parts_text(const std::vector<MissingPart>& missing) {
  nlohmann::json parts = nlohmann::json::array();
  for (const MissingPart& part : missing) parts.push_back({part.text, part.essential});
  return parts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<MissingPart> missing_parts_in(const std::string& text) {
  std::vector<MissingPart> missing;
  try {
    for (const nlohmann::json& part : nlohmann::json::parse(text)) {
      missing.push_back({part.at(0).get<std::string>(), part.at(1).get<bool>()});
    }
  } catch (const nlohmann::json::exception&) {
    throw EnvironmentError(fmt::format("the sandbox cannot be asked what it has: {}", text));
  }
  return missing;
}

CandidateSandbox::CandidateSandbox(std::string scratch) : scratch_(std::move(scratch)) {
  constexpr std::chrono::seconds kToAnswer{30};
  const ChildOutput output = output_of_child(words(), kToAnswer);
  missing_ = missing_parts_in(output.is_well() ? output.last_line() : output.end);
}

std::vector<std::string> CandidateSandbox::words() const {
  return {ChildProcess::kThisProgram, kConfinedCommand, "--scratch", scratch_, "--"};
}

}  // namespace attnbench
