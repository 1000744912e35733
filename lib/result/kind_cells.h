// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "lib/model/layer_kind.h"
#include "lib/result/model_step.h"
#include "lib/result/record.h"

namespace attnbench {

// What of a model's step is the layers' of one kind, for model_step.cpp.

[[nodiscard]] std::string record_kind(const Record& r);
[[nodiscard]] bool counts_in_step(const Record& r);
/// Its time is that of attention and of the choice of its keys.
[[nodiscard]] bool is_pipeline(const Record& r);

/// The cells of one kind of layer in one backend, by the part of the step.
struct KindCells {
  const Record* attention = nullptr;  ///< or a pipeline
  const Record* kv_write = nullptr;
  const Record* both = nullptr;  ///< or a pipeline behind the write
  /// Beside a pipeline: layers without one, whose lists are those of others, and the attention of
  /// its own backend to these, behind the write where the pipeline is.
  int sharing = 0;
  const Record* of_sharing = nullptr;

  [[nodiscard]] const Record* first() const {
    return attention != nullptr ? attention : both != nullptr ? both : kv_write;
  }
  [[nodiscard]] bool has_write() const {
    return (both != nullptr && counts_in_step(*both) && !lacks_sharing()) ||
           (attention != nullptr && counts_in_step(*attention) && kv_write != nullptr &&
            counts_in_step(*kv_write));
  }
  [[nodiscard]] bool has_attention() const {
    return attention != nullptr && counts_in_step(*attention) && !lacks_sharing();
  }
  [[nodiscard]] bool lacks_sharing() const {
    return sharing > 0 && (of_sharing == nullptr || !counts_in_step(*of_sharing));
  }
  /// Cross layers where no request has an encoder: an engine skips them (skip_cross_attention in
  /// SGLang's models/mllama.py), and weights of no keys cannot be checked.
  [[nodiscard]] bool is_skipped() const {
    return first() != nullptr && record_kind(*first()) == to_string(LayerKind::kCross) &&
           first()->kv_tokens == 0;
  }
};

/// Of a pipeline, whose layers without chosen keys are its attention's.
[[nodiscard]] KindCells cells_of(const std::vector<const Record*>& records,
                                 const std::string& backend, const std::string& kind);
[[nodiscard]] ModelStepPart part_of(const KindCells& cells, bool with_write);
/// With the write of layers of which some write nothing: a part of those that do, and of the rest.
/// So of pipelines, where some layers share their lists.
[[nodiscard]] std::vector<ModelStepPart> parts_of(const KindCells& cells, bool with_write);
/// Why a kind of layer has no time in a backend.
[[nodiscard]] std::string lack_of(const KindCells& cells, const std::string& kind);
/// A kind without keys never has a write, and lacks none; nor does one that is skipped, or whose
/// layers, of an encoder that is cached, all only read.
[[nodiscard]] bool writes_nothing(const KindCells& cells);

}  // namespace attnbench
