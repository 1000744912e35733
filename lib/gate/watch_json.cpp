// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "lib/gate/watch.h"
#include "lib/view/json.h"

namespace attnbench {
namespace {

Json point_json(const WatchedPoint& point) {
  return {{"run", point.run},
          {"value", point.value ? Json(*point.value) : Json(nullptr)},
          {"gap", point.gap},
          {"failed", point.failed}};
}

Json change_json(const WatchedSeries& series, const WatchedChange& change) {
  return {{"run", series.points[change.point].run},
          {"before", change.before},
          {"after", change.after},
          {"ratio", change.after / change.before}};
}

Json series_json(const WatchedSeries& series) {
  Json points = Json::array(), changes = Json::array();
  for (const WatchedPoint& point : series.points) points.push_back(point_json(point));
  for (const WatchedChange& change : series.changes) {
    changes.push_back(change_json(series, change));
  }
  return {{"scenario", series.cell.scenario},
          {"case", series.cell.case_id},
          {"backend", series.cell.backend},
          {"step", to_string(series.cell.step)},
          {"cache", to_string(series.cell.cache)},
          {"launch", to_string(series.cell.launch)},
          {"apart", series.apart},
          {"noise", series.noise},
          {"changes", std::move(changes)},
          {"points", std::move(points)}};
}

}  // namespace

void write_watch_json(const WatchReport& report, std::ostream& out) {
  Json root = {{"schema", "attnbench.watch"},     {"schema_version", "1.0.0"},
               {"metric", report.metric->column}, {"unit", report.metric->unit},
               {"runs", Json::array()},           {"series", Json::array()}};
  for (const WatchedRun& run : report.runs) {
    root["runs"].push_back(
        {{"file", run.path}, {"commit", run.commit}, {"started_utc", run.started_utc}});
  }
  for (const WatchedSeries& series : report.series) root["series"].push_back(series_json(series));
  out << root.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace attnbench
