// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/model_step_section.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "lib/result/testing/sample_run.h"
#include "lib/view/units.h"

namespace attnbench {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ModelStepSection, shows_what_steps_are_made_of) {
  Record without_heads = layer_record("full", "b", 1);
  without_heads.outcome = Unsupported{"no heads"};
  RunResult run =
      run_with_layers({layer_record("full", "a", 100), without_heads,
                       layer_record("sliding", "a", 30), layer_record("sliding", "b", 40)});
  for (Record& r : run.records) r.model_layers.left_out = "3 linear";
  const std::string text = model_steps_terminal_section(run, 100);
  EXPECT_THAT(text, HasSubstr("  chat, cold, llama-3.1-8b without its 3 linear layers\n"));
  EXPECT_THAT(text, HasSubstr("    a                          2.30 ms   3.1 %  without the KV "
                              "write\n      12 full × 100 µs + 10.0 µs, 36 sliding × 30.0 µs + "
                              "10.0 µs\n"));
  EXPECT_THAT(text, HasSubstr("    b                                –\n"
                              "      full: unsupported: no heads\n"));
  EXPECT_THAT(text, HasSubstr("best of each kind"));
  EXPECT_THAT(text, HasSubstr("a: 12 full × 100 µs"));
  EXPECT_THAT(model_steps_markdown_section(run),
              HasSubstr("| chat, cold, llama-3.1-8b | a | 2.30 ms | 3.1 % | not in it | 12 full"));
  for (const std::size_t width : {40u, 70u, 100u}) {
    std::istringstream lines(model_steps_terminal_section(run, width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width);
  }
}

TEST(ModelStepSection, says_which_layers_an_engine_skips) {
  Record cross = layer_record("cross", "a", 30);
  cross.kv_tokens = 0;
  EXPECT_THAT(
      model_steps_terminal_section(run_with_layers({layer_record("full", "a", 100), cross}), 100),
      HasSubstr("12 full × 100 µs + 10.0 µs, 36 cross skipped: no request has an encoder"));
}

TEST(ModelStepSection, names_who_chooses_keys_or_says_that_it_is_not_in_the_sum) {
  Record attention = layer_record("full", "a", 100);
  Record indexer = layer_record("full", "i", 5, StepPart::kIndexer);
  Record selector = layer_record("full", "s", 7, StepPart::kSelect);
  for (Record* r : {&attention, &indexer, &selector}) r->layer.selection.topk = 2048;
  const Record sliding = layer_record("sliding", "a", 30);
  const RunResult whole = run_with_layers({attention, sliding, indexer, selector});
  const RunResult half = run_with_layers({attention, sliding, indexer});
  const std::string chosen = "i: 12 full (indexer) × 5.00 µs + 10.0 µs";
  for (const auto& section :
       {model_steps_terminal_section(whole, 200), model_steps_markdown_section(whole)}) {
    EXPECT_THAT(section, HasSubstr(chosen + ", s: 12 full (select) × 7.00 µs + 10.0 µs"));
    EXPECT_THAT(section, Not(HasSubstr("without all that chooses keys")));
  }
  for (const auto& section :
       {model_steps_terminal_section(half, 200), model_steps_markdown_section(half)}) {
    EXPECT_THAT(section, HasSubstr(chosen + ", without all that chooses keys"));
  }
}

TEST(ModelStepSection, is_empty_where_no_mix_has_layers) {
  const RunResult run = sample_run();
  EXPECT_EQ(model_steps_terminal_section(run, 100) + model_steps_markdown_section(run), "");
}

}  // namespace
}  // namespace attnbench
