// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "lib/base/counter_hash.h"
#include "lib/config/size_literal.h"
#include "lib/scenario/language.h"
#include "lib/scenario/sweep.h"

namespace attnbench {
namespace {

/// "batch[0].kv_len" -> {"batch", "[0]", "kv_len"}.
std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> steps(1);
  for (const char c : path) {
    if (c == '.') {
      steps.emplace_back();
    } else if (c == '[') {
      steps.emplace_back("[");
    } else {
      steps.back() += c;
    }
  }
  return steps;
}

/// Case ids are single words: whatever else a value holds becomes '-'.
std::string as_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '.' || c == '_' || c == '+';
    word += plain ? c : '-';
  }
  return word;
}

/// The word of a list or map; what lies inside it is joined with '_', so that levels stay apart.
std::string composite_word(const YamlNode& value, char separator) {
  std::string word;
  const auto add = [&](const std::string& key, const YamlNode& part) {
    if (!word.empty()) word += separator;
    word += key + (part.is_scalar() ? as_word(part.text) : composite_word(part, '_'));
  };
  for (const YamlPtr& item : value.items) add("", *item);
  for (const YamlEntry& entry : value.entries) add(entry.key, *entry.value);
  return word.empty() ? "none" : word;
}

/// A long word keeps its beginning and gets a hash, which still tells it from others.
std::string shortened(const std::string& word) {
  constexpr std::size_t kMost = 40, kKept = 24;
  if (word.size() <= kMost) return word;
  std::uint64_t hash = 0;
  for (const char c : word) hash = combine(hash, static_cast<unsigned char>(c));
  return fmt::format("{}-{:08x}", word.substr(0, kKept), hash >> 32);
}

/// 4096 and 4k are the same value, so they get the same word.
std::string value_word(const YamlNode& value) {
  if (value.is_scalar()) {
    const auto size = parse_size(value.text);
    if (!size) return as_word(value.text);
    constexpr std::int64_t kKilo = 1024;
    return *size >= kKilo && *size % kKilo == 0 ? fmt::format("{}k", *size / kKilo)
                                                : fmt::format("{}", *size);
  }
  return shortened(composite_word(value, '+'));
}

}  // namespace

std::optional<std::vector<std::string>> read_sweep_path(const std::string& path, const Place& place,
                                                        Problems& problems) {
  std::vector<std::string> steps = split(path);
  const KeySection* section = &scenario_language().section("mix");
  std::string before;  // the part of the path that is known to be right
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const KeyRow* key =
        section == nullptr || steps[i] == "sweep" ? nullptr : section->find(steps[i]);
    if (key == nullptr) {
      problems.add(place, fmt::format("unknown path '{}' in a sweep", path),
                   section == nullptr ? fmt::format("{} holds no keys", before)
                                      : fmt::format("'{}' is no key of {}   {}", steps[i],
                                                    before.empty() ? "a mix" : before,
                                                    scenario_language().hint(*section, steps[i])));
      return std::nullopt;
    }
    before += (before.empty() ? "" : ".") + steps[i];
    section =
        key->value.section.empty() ? nullptr : &scenario_language().section(key->value.section);
    // The step after batch chooses an entry, by its place or its name.
    if (steps[i] == "batch" && i + 1 < steps.size()) {
      const std::string& choice = steps[++i];
      before += choice.starts_with('[') ? choice : "." + choice;
      if (choice.empty() || i + 1 == steps.size()) {
        problems.add(place, fmt::format("path '{}' chooses an entry and no key of it", path),
                     "for example batch[0].kv_len or batch.chat.count");
        return std::nullopt;
      }
    }
  }
  return steps;
}

std::string sweep_label(const std::string& path, const YamlNode& value) {
  const std::string word = value_word(value);
  if (path == "kv_cache.page_size") return "ps" + word;
  if (path == "kv_cache.dtype") return "kv-" + word;
  if (path == "dtype") return word;
  if (path == "attention.q_dtype") return "q-" + word;
  if (path == "attention.out_dtype") return "out-" + word;
  const std::string name = path.substr(path.find_last_of('.') + 1);
  // "tp8", "kv_len4k", but "batch-8q1s1k": only a number may follow a name without a dash.
  const bool number = !word.empty() && word.find_first_not_of("0123456789.km") == std::string::npos;
  return name + (number && value.is_scalar() ? "" : "-") + word;
}

}  // namespace attnbench
