// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/scenario/sweep.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "lib/base/counter_hash.h"
#include "lib/config/key_values.h"
#include "lib/config/size_literal.h"
#include "lib/config/value_reader.h"
#include "lib/config/word_hints.h"
#include "lib/scenario/language.h"

namespace attnbench {
namespace {

/// More cases than a run can time; the limit stops a grid that was written by mistake.
constexpr std::int64_t kMaxPoints = 10'000;

constexpr const char* kAxisExample =
    "for example [1, 16, 64], {range: {start: 8, stop: 64, step: 8}} or {log2: {start: 1, stop: "
    "64}}";

/// A range, or powers of two.
struct Progression {
  std::int64_t start = 0, stop = 0, step = 1;
};

/// The numbers of {range: {start, stop, step}} or {log2: {start, stop}}; both ends belong to it.
void read_progression(const YamlNode& node, SweepAxis& axis, Problems& problems) {
  const ScenarioMap map(node, "axis", axis.path, problems);
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
  const ScenarioMap ends(bounds, what, what, problems);
  const auto read = read_whole<Progression>(ends, problems);
  if (!read) return;
  if (read->start > read->stop) {
    problems.add(ends.find("start")->place,
                 fmt::format("{} from {} to {} has no values", what, read->start, read->stop),
                 "the smaller end comes first; both ends belong to it");
    return;
  }
  for (std::int64_t value = read->start; value <= read->stop;
       value = range != nullptr ? value + read->step : 2 * value) {
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

KeySection sweep_section() {
  return {"sweep",
          "sweep",
          "sweep",
          {{"grid", by_section("a map of paths"),
            "Every combination of values: `{grid: {kv_cache.page_size: [1, 16], tp: [1, 8]}}` "
            "makes four cases."},
           {"zip", by_section("a map of paths"),
            "The first value of each list, then the second: `{zip: {\"batch[0].count\": [64, 8], "
            "\"batch[0].kv_len\": [1k, 8k]}}` makes two cases."}}};
}

KeySection axis_section() {
  return {"axis",
          "axis",
          "A swept path",
          {{"range", map_of("range"), "`{range: {start: 8, stop: 64, step: 8}}`"},
           {"log2", map_of("log2"), "`{log2: {start: 1, stop: 64}}` is 1 2 4 8 16 32 64."}}};
}

KeySection range_section() {
  return {"range",
          "range",
          "range",
          {{"start", whole(&Progression::start, 0), "The first value.", "", true},
           {"stop", whole(&Progression::stop, 0), "The last value, if a step meets it.", "", true},
           {"step", whole(&Progression::step, 1), "From one value to the next."}},
          kAxisExample};
}

KeySection log2_section() {
  return {"log2",
          "log2",
          "log2",
          {{"start", whole(&Progression::start, 1), "Doubled until it passes stop.", "", true},
           {"stop", whole(&Progression::stop, 0), "The largest value.", "", true}},
          kAxisExample};
}

std::optional<Sweep> read_sweep(const YamlNode* node, Problems& problems) {
  Sweep sweep;
  sweep.points = {{}};
  if (node == nullptr || (node->is_scalar() && node->text == "none")) return sweep;
  const ScenarioMap map(*node, "sweep", "sweep", problems);
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
