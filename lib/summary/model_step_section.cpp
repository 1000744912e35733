// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/model_step_section.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "lib/base/printable.h"
#include "lib/result/model_step.h"
#include "lib/view/table.h"
#include "lib/view/text_layout.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

std::string step_head(const ModelStep& step, const RunResult& run) {
  const std::string name =
      run.scenarios.size() > 1 ? fmt::format("{}/{}", step.scenario, step.step) : step.step;
  return fmt::format("{}, {}{}, {}", name, to_string(step.cache),
                     step.launch == LaunchMode::kGraph ? " graph" : "", step.model);
}

std::string shown_backend(const ModelStep& step) {
  return step.backend.empty() ? "best of each kind" : step.backend;
}

std::string step_half_width(const ModelStep& step) {
  if (!step.exists()) return "";
  if (!step.has_interval()) return "–";
  return percent_text((step.hi_us() - step.lo_us()) / 2 / step.us());
}

/// "12 full × 98.2 µs + 3.10 µs", with the backend where each kind may have another.
std::string step_parts_text(const ModelStep& step) {
  std::vector<std::string> texts;
  for (const ModelStepPart& part : step.parts) {
    if (part.is_skipped) {
      texts.push_back(
          fmt::format("{} {} skipped: no request has an encoder", part.layers, part.kind));
      continue;
    }
    const bool is_own = part.backend == step.backend;
    texts.push_back(fmt::format("{}{} {}{} × {} + {}", is_own ? "" : part.backend + ": ",
                                part.layers, part.kind,
                                builds(part.step) ? fmt::format(" ({})", to_string(part.step)) : "",
                                time_text(part.layer_us), time_text(part.host_us)));
  }
  if (step.lacks_choice) texts.emplace_back("without all that chooses keys");
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string step_write_text(const ModelStep& step) {
  return step.with_kv_write() ? "with the KV write" : "without the KV write";
}

constexpr const char* kModelStepLegend =
    "model steps: all layers of a model, one after another: the layers' medians, and once for each "
    "kind what the host does before the step (plan, or the update of a recorded graph); ± adds up "
    "the layers' half-widths, as if all erred the same way";

}  // namespace

std::string model_steps_terminal_section(const RunResult& run, std::size_t width) {
  constexpr std::size_t kMostOfNames = 24, kTimes = 10, kHalfWidths = 8;
  const std::vector<ModelStep> steps = model_steps(run);
  if (steps.empty()) return {};
  std::string text = '\n' + wrapped(kModelStepLegend, width, 0);
  std::string last;
  for (const ModelStep& step : steps) {
    std::string head = step_head(step, run);
    if (!step.left_out.empty()) head += fmt::format(" without its {} layers", step.left_out);
    if (head != last) text += wrapped(head, width, 2);
    last = head;
    const std::string line =
        fmt::format("    {}{}{}", fit_left(printable(shown_backend(step)), kMostOfNames),
                    fit_right(step.exists() ? time_text(step.us()) : "–", kTimes),
                    fit_right(step_half_width(step), kHalfWidths));
    if (!step.exists()) {
      text += cut_to_width(line.substr(0, line.find_last_not_of(' ') + 1), width) + '\n' +
              wrapped(step.reason, width, 6);
      continue;
    }
    text += cut_to_width(line + "  " + step_write_text(step), width) + '\n' +
            wrapped(step_parts_text(step), width, 6);
  }
  return text;
}

std::string model_steps_markdown_section(const RunResult& run) {
  constexpr auto kLeft = Column::Align::kLeft, kRight = Column::Align::kRight;
  Section section{.heading = kModelStepLegend,
                  .table = {.columns = {{"model step", kLeft},
                                        {"backend", kLeft},
                                        {"time", kRight},
                                        {"±", kRight},
                                        {"KV write", kLeft},
                                        {"layers", kLeft},
                                        {"left out", kLeft},
                                        {"reason", kLeft}}}};
  for (const ModelStep& step : model_steps(run)) {
    section.table.rows.push_back(
        {{step_head(step, run), shown_backend(step), step.exists() ? time_text(step.us()) : "–",
          step_half_width(step),
          step.exists() ? (step.with_kv_write() ? "in it" : "not in it") : "",
          step_parts_text(step), step.left_out, step.reason}});
  }
  return markdown_text(section);
}

}  // namespace attnbench
