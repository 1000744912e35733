// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/plots.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/error.h"
#include "lib/page/page_data.h"
#include "lib/page/plot_facts.h"
#include "lib/result/record_text.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

/// Collects points by series, in the order in which these first come.
class SeriesList {
 public:
  explicit SeriesList(const std::vector<NamedRun>& files) : labels_(file_labels(files)) {
    // A backend has one colour on every plot of these files, whether or not it is on it.
    for (const NamedRun& file : files) {
      for (const Record& record : file.run.records) {
        styles_.try_emplace(record.backend, styles_.size());
      }
    }
  }

  /// Points of one series and one `curve` are joined; `kind` is that of all such curves.
  void add(std::size_t file, const Record& record, const std::string& curve, PlotPoint point,
           std::size_t kind = 0) {
    std::string name = record.backend;
    if (labels_.size() > 1) name += " · " + labels_[file];
    auto known = std::ranges::find(series_, name, &PlotSeries::name);
    if (known == series_.end()) {
      known = series_.insert(known, {name, {}, styles_.at(record.backend), file > 0});
    }
    const auto key = std::pair(name, curve);
    const auto [place, is_new] = places_.try_emplace(key, known->curves.size());
    if (is_new) known->curves.push_back({{}, kind});
    known->curves[place->second].points.push_back(point);
  }

  [[nodiscard]] std::vector<PlotSeries> take(std::string_view what) {
    if (series_.empty()) throw ConfigError(fmt::format("no cell has a place on the {} plot", what));
    return std::move(series_);
  }

 private:
  std::vector<std::string> labels_;
  std::map<std::string, std::size_t> styles_;
  std::vector<PlotSeries> series_;
  std::map<std::pair<std::string, std::string>, std::size_t> places_;
};

std::string title_of(const std::vector<NamedRun>& files, std::string_view what) {
  std::set<std::string> devices, scenarios;
  std::string text(what);
  const auto add = [&](std::set<std::string>& known, const std::string& name) {
    if (known.insert(name).second) text += " · " + name;
  };
  for (const NamedRun& file : files) add(devices, file.run.environment.device.name);
  for (const NamedRun& file : files) add(scenarios, scenario_names(file.run));
  return text;
}

std::string plain_number(double value) { return fmt::format("{:g}", value); }

/// "8k" of 8192, as scenarios write it.
std::string length_text(double tokens) {
  return tokens >= 1024 ? fmt::format("{:g}k", tokens / 1024) : fmt::format("{:g}", tokens);
}

/// "20 µs": ticks are round, and need none of time_text()'s zeros.
std::string tick_time(double microseconds) {
  std::string text = time_text(microseconds);
  const std::size_t point = text.find('.');
  const std::size_t space = text.find(' ');
  if (point != std::string::npos && text.find_first_not_of('0', point + 1) == space) {
    text.erase(point, space - point);
  }
  return text;
}

/// "cold", "cold/g", "cold kv_write".
std::string mode_of(const Record& record) {
  return cache_and_launch(record) + step_suffix(record.step);
}

std::string commonest_mode(const std::vector<NamedRun>& files) {
  std::map<std::string, int> counts;
  for (const NamedRun& file : files) {
    for (const Record& record : file.run.records) {
      if (record.claims_speed()) ++counts[mode_of(record)];
    }
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
  return most == counts.end() ? "" : most->first;
}

constexpr std::string_view kBetweenParts = " · ";  // as workload_of() has it

std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(kBetweenParts);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + kBetweenParts.size());
  }
}

/// What tells names apart: without the parts that all have. A name without any other is whole.
std::vector<std::string> told_apart_by_parts(const std::vector<std::string>& names) {
  std::map<std::string, std::size_t> holders;
  for (const std::string& name : names) {
    const std::vector<std::string> parts = parts_of(name);
    for (const std::string& part : std::set<std::string>(parts.begin(), parts.end())) {
      ++holders[part];
    }
  }
  std::vector<std::string> shorter;
  for (const std::string& name : names) {
    std::string text;
    for (const std::string& part : parts_of(name)) {
      if (holders[part] == names.size()) continue;
      if (!text.empty()) text += kBetweenParts;
      text += part;
    }
    shorter.push_back(text.empty() ? name : text);
  }
  return shorter;
}

}  // namespace

SvgPlot roofline_plot(const std::vector<NamedRun>& files) {
  SvgPlot plot{.title = title_of(files, "Roofline"),
               .x = {"FLOP per byte", false, plain_number},
               .y = {"TFLOP/s", false, plain_number}};
  SeriesList series(files);
  std::set<std::pair<double, double>> roofs;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const Record& record : files[i].run.records) {
      const std::optional<double> intensity = arithmetic_intensity(record);
      if (!record.claims_speed() || !intensity) continue;
      const double rate = record.tflop_per_s();
      // Each point is a curve of its own: no line joins them.
      series.add(i, record, std::to_string(&record - files[i].run.records.data()),
                 {*intensity, rate, rate, rate});
      const Ceilings& ceilings = ceilings_of(files[i].run, record);
      if (ceilings.read_bytes_per_s > 0 && ceilings.flop_per_s > 0) {
        roofs.emplace(ceilings.read_bytes_per_s, ceilings.flop_per_s);
      }
    }
  }
  for (const auto& [read, flop] : roofs) {
    plot.lines.emplace_back([read = read, flop = flop](double intensity) {
      return std::min(intensity * read, flop) / 1e12;
    });
    plot.line_bends.push_back(flop / read);
  }
  plot.series = series.take("roofline");
  return plot;
}

SvgPlot latency_plot(const std::vector<NamedRun>& files) {
  const std::string mode = commonest_mode(files);
  SvgPlot plot{.title = title_of(files, fmt::format("Latency by length ({})", mode)),
               .x = {"keys of a request (mean)", true, length_text},
               .y = {"median time", false, tick_time}};
  SeriesList series(files);
  std::vector<std::string> workloads;
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const Record& record : files[i].run.records) {
      const std::optional<double> length = mean_kv_len(record);
      if (!record.claims_speed() || mode_of(record) != mode || !length || *length <= 0) continue;
      const double us = record.timing.median_us;
      const bool interval = has_interval(record);
      const std::string workload =
          record.scenario + std::string(kBetweenParts) + workload_of(record);
      const auto kind = std::ranges::find(workloads, workload) - workloads.begin();
      if (kind == std::ssize(workloads)) workloads.push_back(workload);
      series.add(
          i, record, workload,
          {*length, us, interval ? record.timing.lo_us : us, interval ? record.timing.hi_us : us},
          static_cast<std::size_t>(kind));
    }
  }
  plot.kinds = told_apart_by_parts(workloads);
  plot.series = series.take("latency");
  return plot;
}

}  // namespace attnbench
