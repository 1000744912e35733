// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/base/error.h"
#include "lib/model/hf_config.h"

namespace attnbench {

/// A config.json of this text.
inline ModelGeometry read_hf(const std::string& json) { return parse_hf_config(json, "c.json"); }

/// The first message with which it is refused, or "accepted".
inline std::string hf_refusal(const std::string& json) {
  try {
    (void)read_hf(json);
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
  return "accepted";
}

/// So many full layers, and so many of another kind.
inline LayerCounts kind_counts(int full, LayerKind other, int others) {
  LayerCounts kinds(LayerKind::kFull, full);
  kinds[other] = others;
  return kinds;
}

}  // namespace attnbench
