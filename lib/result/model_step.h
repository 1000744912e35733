// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "lib/result/record.h"
#include "lib/view/json.h"

namespace attnbench {

/// What the layers of one kind add to a step: `host_us` once, and each layer's time. Of a step with
/// the KV write, layers that write nothing (Gemma 3n) are a part of their own. Cross layers of a
/// step whose requests have no encoder, which engines skip, add nothing. The indexer and the
/// selector of layers with chosen keys are parts of their own, unless a pipeline was measured.
struct ModelStepPart {
  std::string kind, backend;
  StepPart step = StepPart::kAttention;
  int layers = 0;
  double host_us = 0;  ///< update_us of a graph that is updated for the step, else plan_us
  double layer_us = 0, layer_lo_us = 0, layer_hi_us = 0;
  bool has_interval = false;
  /// Its keys and values are written, too; never of linear layers, nor of cross layers that only
  /// read.
  bool with_kv_write = false;
  bool is_skipped = false;  ///< all times are 0

  [[nodiscard]] double us() const { return host_us + layers * layer_us; }
};

/// The attention of a whole step: all layers of a model that a mix with `layers` runs, in one
/// backend, or each kind in the fastest one on a device.
struct ModelStep {
  std::string scenario, step, model, device;
  std::string backend;  ///< empty: the best one of each kind
  CacheState cache = CacheState::kCold;
  LaunchMode launch = LaunchMode::kEager;
  std::string left_out;              ///< layers of the model that the mix does not run
  std::vector<ModelStepPart> parts;  ///< empty where there is no sum
  std::string reason;                ///< why there is none
  /// Of layers with chosen keys: the time in which they are chosen is not, or not all, in the sum.
  bool lacks_choice = false;

  [[nodiscard]] bool exists() const { return !parts.empty(); }
  [[nodiscard]] double us() const;
  /// The ends of all the layers' intervals added up, as if all erred the same way: at least 95 %.
  [[nodiscard]] double lo_us() const;
  [[nodiscard]] double hi_us() const;
  [[nodiscard]] bool has_interval() const;
  /// The writes of all layers that have keys are in the sum.
  [[nodiscard]] bool with_kv_write() const;
};

/// Of each step, cache state, launch mode and device: one for every backend that was tried, and
/// where there are several backends the best of each kind. A cell counts that claims a speed and is
/// not mistrusted. Of a layer's parts `both` counts, else attention and kv_write together where all
/// layers with keys have it, else attention alone. Whoever attends, keys are chosen by the fastest
/// indexer and the fastest selector on the device. A pipeline chooses its own, and its layers
/// without chosen keys are those of its attention; where a kind has one, the best is a pipeline.
[[nodiscard]] std::vector<ModelStep> model_steps(const RunResult& run);

[[nodiscard]] Json model_steps_json(const RunResult& run);

}  // namespace attnbench
