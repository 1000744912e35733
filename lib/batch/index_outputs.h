// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace attnbench {

/// What a step of StepPart::kIndex builds, named as the index format that its arrays are of. They
/// follow from the batch's req_to_token, or its block table, and its lengths; the format's other
/// arrays are lengths that an engine has at hand.
enum class IndexForm : std::uint8_t {
  kCsr,        ///< kv_indptr [B + 1] and kv_indices, in pages
  kPageTable,  ///< page_table [B, width]; what lies behind a request's pages may be anything
};
inline constexpr IndexForm kIndexForms[] = {IndexForm::kCsr, IndexForm::kPageTable};

[[nodiscard]] constexpr std::string_view to_string(IndexForm form) {
  switch (form) {
    case IndexForm::kCsr:
      return "csr";
    case IndexForm::kPageTable:
      return "page_table";
  }
  return "?";
}

/// An array of i32, or f32, that a plan has to write, dense, in the memory of the device that
/// computes.
struct IndexOutput {
  const char* name = "";  ///< as its readers call it
  std::vector<std::int64_t> shape;
  std::int32_t* data = nullptr;
};

/// The arrays that a part of a step builds (StepPartRow::builds): those of an IndexForm, or the
/// lists of a selection, topk_indices [T, groups, topk], -1 behind a list's units (before them
/// under SelectionPadding::kFront), and topk_length [T, groups], or the logits of an indexer, f32
/// [T, groups, columns]; of a pipeline the logits and then the lists. They hold poison until the
/// plan runs, but for the 0 with which kv_indptr begins: an engine's buffer has it from the start.
struct IndexOutputs {
  IndexForm form = IndexForm::kCsr;
  std::vector<IndexOutput> arrays;  ///< in the order of these comments
};

}  // namespace attnbench
