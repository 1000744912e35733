// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/json_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using Json = nlohmann::json;

/// What was found: the value of a number or a flag, and only the kind of everything else.
std::string found(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean() || value.is_number()) return value.dump();
  if (value.is_string()) return "a string";
  return value.is_array() ? "a list" : "an object";
}

[[noreturn]] void refuse(const std::string& path, const Json& value, const std::string& wanted) {
  throw ConfigError(fmt::format("{} is {}, not {}", path, found(value), wanted));
}

std::int64_t whole_in(const Json& value, const std::string& path, std::int64_t lo,
                      std::int64_t hi) {
  const std::string wanted = fmt::format("a whole number from {} to {}", lo, hi);
  if (!value.is_number_integer()) refuse(path, value, wanted);
  // Beyond int64 a number is unsigned here, and would turn negative when cast.
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(hi)) {
    refuse(path, value, wanted);
  }
  const auto number = value.get<std::int64_t>();
  if (number < lo || number > hi) refuse(path, value, wanted);
  return number;
}

std::string word_in(const Json& value, const std::string& path) {
  if (!value.is_string()) refuse(path, value, "a word");
  return value.get<std::string>();
}

/// 1-based line and column of a byte, counted from 1.
std::pair<std::ptrdiff_t, std::ptrdiff_t> place_of(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(text.size(), byte > 0 ? byte - 1 : 0));
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
  return {std::ranges::count(before, '\n') + 1,
          static_cast<std::ptrdiff_t>(before.size() - line_start) + 1};
}

}  // namespace

JsonFields::JsonFields(const Json& object, std::string path)
    : object_(&object), path_(std::move(path)), read_(std::make_shared<std::set<std::string>>()) {}

const Json* JsonFields::find(std::string_view key) const {
  read_->emplace(key);
  const auto entry = object_->find(key);
  return entry == object_->end() ? nullptr : &*entry;
}

bool JsonFields::has(std::string_view key) const { return find(key) != nullptr; }

bool JsonFields::is_null(std::string_view key) const {
  const Json* value = find(key);
  return value != nullptr && value->is_null();
}

bool JsonFields::is_false(std::string_view key) const {
  const Json* value = find(key);
  return value != nullptr && value->is_boolean() && !value->get<bool>();
}

bool JsonFields::says_none(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr || value->is_null() || is_false(key)) return true;
  if (value->is_number()) return value->get<double>() < 1;
  if (value->is_string()) return value->get_ref<const std::string&>().empty();
  return value->is_structured() && value->empty();
}

std::vector<std::string> JsonFields::unread_keys() const {
  std::vector<std::string> unread;
  for (const auto& entry : object_->items()) {
    if (!read_->contains(entry.key())) unread.push_back(entry.key());
  }
  return unread;
}

std::string JsonFields::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

std::optional<std::int64_t> JsonFields::whole(std::string_view key, std::int64_t lo,
                                              std::int64_t hi) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  return whole_in(*value, path_of(key), lo, hi);
}

std::optional<double> JsonFields::number(std::string_view key, double lo, double hi) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  const bool inside =
      value->is_number() && value->get<double>() >= lo && value->get<double>() <= hi;
  if (!inside) refuse(path_of(key), *value, fmt::format("a number from {:g} to {:g}", lo, hi));
  return value->get<double>();
}

std::optional<bool> JsonFields::flag(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) refuse(path_of(key), *value, "true or false");
  return value->get<bool>();
}

std::optional<std::string> JsonFields::word(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  return word_in(*value, path_of(key));
}

std::optional<JsonFields> JsonFields::object(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_object()) refuse(path_of(key), *value, "an object");
  return JsonFields(*value, path_of(key));
}

std::optional<std::vector<std::int64_t>> JsonFields::wholes(std::string_view key, std::int64_t lo,
                                                            std::int64_t hi) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(path_of(key), *value, "a list of whole numbers");
  std::vector<std::int64_t> numbers;
  for (const Json& item : *value) {
    numbers.push_back(whole_in(item, fmt::format("{}[{}]", path_of(key), numbers.size()), lo, hi));
  }
  return numbers;
}

std::optional<std::vector<std::string>> JsonFields::words(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(path_of(key), *value, "a list of words");
  std::vector<std::string> words;
  for (const Json& item : *value) {
    words.push_back(word_in(item, fmt::format("{}[{}]", path_of(key), words.size())));
  }
  return words;
}

Json parse_json_object(std::string_view text) {
  try {
    Json parsed = Json::parse(text);
    if (parsed.is_object()) return parsed;
  } catch (const Json::parse_error& error) {
    const auto [line, column] = place_of(text, error.byte);
    throw ConfigError(fmt::format("no JSON object: syntax error at {}:{}", line, column));
  } catch (const Json::exception&) {
    throw ConfigError("no JSON object that fits in memory: a number is beyond double precision");
  }
  throw ConfigError("no JSON object: it must begin with {");
}

std::string shown(const std::string& word) {
  constexpr std::size_t kLongest = 40;
  const bool cut = word.size() > kLongest;
  return Json(word.substr(0, kLongest)).dump(-1, ' ', true, Json::error_handler_t::replace) +
         (cut ? "…" : "");
}

}  // namespace attnbench
