// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/base/int_math.h"
#include "lib/config/json_fields.h"
#include "lib/trace/block_numbers.h"
#include "lib/trace/row_readers.h"

namespace attnbench {
namespace {

/// Mooncake's blocks: "each hash is of 512 tokens" (README of its traces).
constexpr std::int64_t kMooncakeBlock = 512;

std::int64_t needed(std::optional<std::int64_t> value, const char* key) {
  if (!value) throw ConfigError(fmt::format("{} is missing", key));
  return *value;
}

TracedRequest request_of(const JsonFields& row) {
  TracedRequest request;
  const auto timestamp = row.number("timestamp", 0, kLastArrival * 1e3);
  if (!timestamp) throw ConfigError("timestamp is missing");
  request.arrival_s = *timestamp / 1e3;
  request.input_tokens = needed(row.whole("input_length", 1, kMostTokens), "input_length");
  request.output_tokens = needed(row.whole("output_length", 0, kMostTokens), "output_length");
  return request;
}

/// Whole blocks: an engine shares no part of one. They are most of a file, so that they are read
/// without JsonFields, which prepares a message for each number.
std::vector<std::uint64_t> whole_blocks(const nlohmann::json& object, std::int64_t input_tokens) {
  const auto list = object.find("hash_ids");
  if (list == object.end()) return {};
  if (!list->is_array()) throw ConfigError("hash_ids is no list");
  const std::int64_t most = ceil_div(input_tokens, kMooncakeBlock);
  if (static_cast<std::int64_t>(list->size()) > most) {
    throw ConfigError(fmt::format("hash_ids has {} blocks, and an input_length of {} has {}",
                                  list->size(), input_tokens, most));
  }
  std::vector<std::uint64_t> hashes;
  for (const nlohmann::json& hash : *list) {
    if (!hash.is_number_unsigned()) {
      throw ConfigError("a block of hash_ids is no whole number from 0 on");
    }
    hashes.push_back(hash.get<std::uint64_t>());
  }
  hashes.resize(std::min(hashes.size(), to_size(input_tokens / kMooncakeBlock)));
  return hashes;
}

/// The message of a ConfigError without the word that announces it.
std::string reason_of(const ConfigError& error) { return error.diagnostics().front().message; }

}  // namespace

void read_json_rows(std::istream& file, const TraceFormat&, Trace& trace) {
  BlockNumbers tree;
  trace.block_tokens = kMooncakeBlock;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      const nlohmann::json object = parse_json_object(line);
      const JsonFields row(object, "");
      TracedRequest request = request_of(row);
      const auto hashes = whole_blocks(object, request.input_tokens);
      if (request.output_tokens == 0) {
        ++trace.unanswered;
        continue;
      }
      request.first_block = trace.blocks.size();
      request.blocks = hashes.size();
      BlockNumbers::Block block;
      for (const std::uint64_t hash : hashes) {
        block = tree.child(block, hash);
        trace.blocks.push_back(block.number);
      }
      trace.requests.push_back(request);
    } catch (const ConfigError& error) {
      trace.faults.add(trace.file, number, reason_of(error));
    }
  }
  trace.distinct_blocks = tree.size();
}

}  // namespace attnbench
