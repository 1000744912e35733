// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/config/problems.h"
#include "lib/config/yaml_tree.h"
#include "lib/scenario/case.h"

namespace attnbench {

/// A mix of one kind of its model's layers, with `layer` in the place of `layers`.
struct MixOfLayers {
  YamlPtr mix;
  ModelLayers layers;  ///< of no kind: the mix has no `layers`
  std::string note;    ///< what is left out, and the model's own notes; empty when nothing
};

/// The mixes that a mix with `layers` stands for: `all` that attnbench can run, or those of a map
/// of kinds with their numbers of layers. The mix itself where it has no `layers`. Linear layers
/// have neither the `kv_cache` nor the `attention` of the others, and cross layers alone have the
/// batch's `encoder_len`. Empty after a mistake.
[[nodiscard]] std::vector<MixOfLayers> mixes_of_layers(const YamlPtr& mix, Problems& problems);

/// "chat/full" and "chat/ps16,full": the id of one kind's case; `id` itself where there is no kind.
[[nodiscard]] std::string case_id_of_layers(const std::string& id, std::string_view kind);

/// The id of the step that such a case is a part of: "chat", "chat/ps16". Of any other case its
/// own.
[[nodiscard]] std::string step_id_of(const std::string& case_id, std::string_view kind);

}  // namespace attnbench
