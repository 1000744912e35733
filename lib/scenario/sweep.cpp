// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/config/scenario_keys.h"
#include "lib/config/size_literal.h"
#include "lib/config/strict_map.h"
#include "lib/config/value_reader.h"

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
  const KeySection* section = &key_section("mix");
  std::string before;  // the part of the path that is known to be right
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const ScenarioKey* key =
        section == nullptr || steps[i] == "sweep" ? nullptr : section->find(steps[i]);
    if (key == nullptr) {
      problems.add(place, fmt::format("unknown path '{}' in a sweep", path),
                   section == nullptr ? fmt::format("{} holds no keys", before)
                                      : fmt::format("'{}' is no key of {}   {}", steps[i],
                                                    before.empty() ? "a mix" : before,
                                                    allowed_keys_hint(*section, steps[i])));
      return std::nullopt;
    }
    before += (before.empty() ? "" : ".") + steps[i];
    section = key->section.empty() ? nullptr : &key_section(key->section);
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

namespace {

/// More cases than a run can time; the limit stops a grid that was written by mistake.
constexpr std::int64_t kMaxPoints = 10'000;

constexpr const char* kAxisExample =
    "for example [1, 16, 64], {range: {start: 8, stop: 64, step: 8}} or {log2: {start: 1, stop: "
    "64}}";

/// The numbers of {range: {start, stop, step}} or {log2: {start, stop}}; both ends belong to it.
void read_progression(const YamlNode& node, SweepAxis& axis, Problems& problems) {
  const StrictMap map(node, "axis", axis.path, problems);
  if (!map.sound()) return;
  const YamlNode* range = map.find("range");
  const YamlNode* log2 = map.find("log2");
  if ((range == nullptr) == (log2 == nullptr)) {
    problems.add(node.place, fmt::format("{} takes a list, a range or a log2", axis.path),
                 kAxisExample);
    return;
  }
  const YamlNode& bounds = range != nullptr ? *range : *log2;
  const char* what = range != nullptr ? "range" : "log2";
  const StrictMap ends(bounds, what, what, problems);
  const YamlNode* start = ends.find("start");
  const YamlNode* stop = ends.find("stop");
  if (start == nullptr || stop == nullptr) {
    if (ends.sound()) {
      problems.add(bounds.place,
                   fmt::format("{} has no {}", what, start == nullptr ? "start" : "stop"),
                   kAxisExample);
    }
    return;
  }
  const auto first = read_size(*start, "start", range != nullptr ? 0 : 1, kMaxSize, problems);
  const auto last = read_size(*stop, "stop", 0, kMaxSize, problems);
  std::optional<std::int64_t> step = 1;
  if (range != nullptr) {
    if (const YamlNode* given = ends.find("step")) {
      step = read_size(*given, "step", 1, kMaxSize, problems);
    }
  }
  if (!first || !last || !step) return;
  if (*first > *last) {
    problems.add(start->place, fmt::format("{} from {} to {} has no values", what, *first, *last),
                 "the smaller end comes first; both ends belong to it");
    return;
  }
  for (std::int64_t value = *first; value <= *last;
       value = range != nullptr ? value + *step : 2 * value) {
    if (static_cast<std::int64_t>(axis.values.size()) == kMaxPoints) {
      problems.add(bounds.place, fmt::format("{} has more than {} values", what, kMaxPoints));
      return;
    }
    axis.values.push_back(make_scalar(fmt::format("{}", value), node.place, node.path));
  }
}

std::optional<SweepAxis> read_axis(const YamlEntry& entry, Problems& problems) {
  SweepAxis axis;
  axis.path = entry.key;
  axis.place = entry.place;
  auto steps = read_sweep_path(entry.key, entry.place, problems);
  const YamlNode& node = *entry.value;
  if (node.is_list()) {
    axis.values = node.items;
    if (axis.values.empty()) {
      problems.add(node.place, fmt::format("{} is swept over no values", axis.path), kAxisExample);
    }
  } else if (node.is_map()) {
    read_progression(node, axis, problems);
  } else {
    problems.add(node.place,
                 fmt::format("{} takes a list of values, found {}", axis.path, describe(node)),
                 kAxisExample);
  }
  if (!steps || axis.values.empty()) return std::nullopt;
  axis.steps = std::move(*steps);
  for (const YamlPtr& value : axis.values) axis.labels.push_back(sweep_label(axis.path, *value));
  return axis;
}

std::vector<SweepPoint> grid_points(const std::vector<SweepAxis>& axes) {
  std::vector<SweepPoint> points{{}};
  for (const SweepAxis& axis : axes) {
    std::vector<SweepPoint> longer;
    for (const SweepPoint& point : points) {
      for (std::size_t i = 0; i < axis.values.size(); ++i) {
        longer.push_back(point);
        longer.back().push_back(i);
      }
    }
    points = std::move(longer);
  }
  return points;
}

bool check_size(const std::vector<SweepAxis>& axes, bool zip, const Place& place,
                Problems& problems) {
  std::int64_t points = 1;
  for (const SweepAxis& axis : axes) {
    if (zip && axis.values.size() != axes[0].values.size()) {
      problems.add(axis.place,
                   fmt::format("zip of {} values of {} with {} of {}", axes[0].values.size(),
                               axes[0].path, axis.values.size(), axis.path),
                   "zip takes the first value of each list, then the second: the lists are equally "
                   "long");
      return false;
    }
    points = zip ? static_cast<std::int64_t>(axis.values.size())
                 : points * static_cast<std::int64_t>(axis.values.size());
    if (points <= kMaxPoints) continue;
    problems.add(place, fmt::format("a sweep of more than {} cases", kMaxPoints));
    return false;
  }
  return true;
}

/// Two points of one name are the same case twice.
bool check_distinct(const Sweep& sweep, Problems& problems) {
  std::set<std::string> ids;
  for (const SweepPoint& point : sweep.points) {
    if (ids.insert(case_id("", sweep, point)).second) continue;
    const SweepAxis& axis = sweep.axes.back();
    const YamlNode& value = *axis.values[point.back()];
    problems.add(value.place,
                 fmt::format("the sweep makes case {} twice", case_id("", sweep, point).substr(1)),
                 "each combination of values may stand once");
    return false;
  }
  return true;
}

/// The entry of a batch that "[0]" or "chat" chooses, or npos.
std::size_t entry_index(const YamlNode& batch, const std::string& choice) {
  for (std::size_t i = 0; i < batch.items.size(); ++i) {
    const YamlEntry* name = batch.items[i]->find("name");
    if (choice.starts_with('[') && choice == fmt::format("[{}]", i)) return i;
    if (name != nullptr && name->value->is_scalar() && name->value->text == choice) return i;
  }
  return std::string::npos;
}

YamlPtr set_value(const YamlNode& node, const SweepAxis& axis, std::size_t step,
                  const YamlPtr& value, const std::string& mix_name, Problems& problems) {
  const std::string& name = axis.steps[step];
  if (step + 1 == axis.steps.size()) return with_entry(node, name, axis.place, value);
  const YamlEntry* entry = node.find(name);
  YamlNode empty;
  empty.kind = YamlNode::Kind::kMap;
  empty.place = axis.place;
  empty.path = node.path.empty() ? name : node.path + "." + name;
  const YamlNode& child = entry == nullptr ? empty : *entry->value;
  if (name == "batch") {
    const std::size_t index = entry_index(child, axis.steps[step + 1]);
    if (index == std::string::npos || !child.items[index]->is_map()) {
      problems.add(
          axis.place,
          child.is_scalar()
              ? fmt::format("mix '{}' has a batch string, no entry for {}", mix_name, axis.path)
              : fmt::format("mix '{}' has no batch entry for {}", mix_name, axis.path),
          "a sweep inside a mix is for this mix alone; sweep: none takes a mix out");
      return nullptr;
    }
    const YamlPtr item = set_value(*child.items[index], axis, step + 2, value, mix_name, problems);
    return item == nullptr ? nullptr
                           : with_entry(node, name, axis.place, with_item(child, index, item));
  }
  if (!child.is_map()) {
    problems.add(axis.place,
                 fmt::format("{} is swept, but {} of mix '{}' is {}", axis.path, name, mix_name,
                             describe(child)),
                 "a sweep inside a mix is for this mix alone; sweep: none takes a mix out");
    return nullptr;
  }
  const YamlPtr changed = set_value(child, axis, step + 1, value, mix_name, problems);
  return changed == nullptr ? nullptr : with_entry(node, name, axis.place, changed);
}

}  // namespace

std::optional<Sweep> read_sweep(const YamlNode* node, Problems& problems) {
  Sweep sweep;
  sweep.points = {{}};
  if (node == nullptr || (node->is_scalar() && node->text == "none")) return sweep;
  const StrictMap map(*node, "sweep", "sweep", problems);
  if (!map.sound()) return std::nullopt;
  const YamlNode* grid = map.find("grid");
  const YamlNode* zip = map.find("zip");
  if ((grid == nullptr) == (zip == nullptr)) {
    problems.add(node->place,
                 grid == nullptr ? "sweep has neither grid nor zip" : "sweep has both grid and zip",
                 "for example grid: {kv_cache.page_size: [1, 16, 64]}");
    return std::nullopt;
  }
  const YamlNode& axes = grid != nullptr ? *grid : *zip;
  if (!axes.is_map() || axes.entries.empty()) {
    problems.add(axes.place,
                 fmt::format("{} takes a map of paths, found {}", grid != nullptr ? "grid" : "zip",
                             axes.is_map() ? "an empty one" : describe(axes)),
                 "for example {kv_cache.page_size: [1, 16, 64]}");
    return std::nullopt;
  }
  bool valid = true;
  for (const YamlEntry& entry : axes.entries) {
    auto axis = read_axis(entry, problems);
    valid = valid && axis;
    if (axis) sweep.axes.push_back(std::move(*axis));
  }
  if (!valid || !check_size(sweep.axes, zip != nullptr, axes.place, problems)) return std::nullopt;
  if (zip == nullptr) {
    sweep.points = grid_points(sweep.axes);
  } else {
    sweep.points.clear();
    for (std::size_t i = 0; i < sweep.axes[0].values.size(); ++i) {
      sweep.points.emplace_back(sweep.axes.size(), i);
    }
  }
  if (!check_distinct(sweep, problems)) return std::nullopt;
  return sweep;
}

std::optional<Sweep> sweep_along(const Sweep& sweep, const SweepPoint& point,
                                 const std::string& path, const std::vector<std::int64_t>& values,
                                 const Place& place, Problems& problems) {
  auto steps = read_sweep_path(path, place, problems);
  if (!steps) return std::nullopt;
  Sweep result;
  for (std::size_t i = 0; i < point.size(); ++i) {
    SweepAxis fixed = sweep.axes[i];
    if (fixed.path == path) continue;
    fixed.values = {fixed.values[point[i]]};
    fixed.labels = {fixed.labels[point[i]]};
    result.axes.push_back(std::move(fixed));
  }
  SweepAxis axis{path, std::move(*steps), place, {}, {}};
  for (const std::int64_t value : values) {
    axis.values.push_back(make_scalar(std::to_string(value), place, path));
    axis.labels.push_back(sweep_label(path, *axis.values.back()));
    result.points.emplace_back(result.axes.size(), 0);
    result.points.back().push_back(axis.values.size() - 1);
  }
  result.axes.push_back(std::move(axis));
  return result;
}

YamlPtr apply_sweep(const YamlPtr& mix, const std::string& mix_name, const Sweep& sweep,
                    const SweepPoint& point, Problems& problems) {
  YamlPtr result = mix;
  for (std::size_t axis = 0; axis < sweep.axes.size() && result != nullptr; ++axis) {
    result = set_value(*result, sweep.axes[axis], 0, sweep.axes[axis].values[point[axis]], mix_name,
                       problems);
  }
  return result;
}

SweptValues swept_values(const Sweep& sweep, const SweepPoint& point) {
  SweptValues values;
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    values.emplace_back(sweep.axes[axis].path, flow_text(*sweep.axes[axis].values[point[axis]]));
  }
  return values;
}

std::string case_id(const std::string& mix_name, const Sweep& sweep, const SweepPoint& point) {
  if (point.empty()) return mix_name;
  std::vector<std::string> labels;
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    labels.push_back(sweep.axes[axis].labels[point[axis]]);
  }
  return fmt::format("{}/{}", mix_name, fmt::join(labels, ","));
}

}  // namespace attnbench
