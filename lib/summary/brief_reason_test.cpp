// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/summary/brief_reason.h"

#include <gtest/gtest.h>

namespace attnbench {
namespace {

std::string brief(const std::string& reason) {
  Record record;
  record.outcome = Incorrect{reason, true};
  return brief_reason(record);
}

TEST(BriefReason, begins_with_the_mistake_and_ends_with_its_place) {
  EXPECT_EQ(
      brief("LSE bound exceeded 94x on fill tag at request 1 (chat), head 3, query 0, LSE, own "
            "key on page 8: got 2.1, want 2.2; it sees keys 0 to 9 of 10; that is what one "
            "gets with one key too few, as with the lengths of the step before (bounds of q.k "
            "in bf16, weights in bf16, sums in f32, partial results in f32, as numerics() "
            "declares); in timed sample 1 of the eager launches: bound exceeded 7x at request "
            "0, head 0, query 0, dim 5: got 1, want 2"),
      "one key too few, as with the lengths of the step before (LSE bound exceeded 94x on "
      "fill tag at request 1 (chat), head 3, query 0, LSE)");
}

TEST(BriefReason, is_what_was_found_first_where_no_mistake_explains_it) {
  EXPECT_EQ(brief("bound exceeded 12x on fill normal at request 0, head 3, query 0, dim 7: got 1, "
                  "want 2; it sees keys 0 to 9 of 10; input 'v pool' was modified on fill tag"),
            "bound exceeded 12x on fill normal at request 0, head 3, query 0, dim 7");
  EXPECT_EQ(
      brief("in timed sample 1,204 of the graph: bound exceeded 3x at request 0: got 1, want 2"),
      "in timed sample 1,204 of the graph: bound exceeded 3x at request 0");
  EXPECT_EQ(brief("input 'v pool' was modified on fill tag"),
            "input 'v pool' was modified on fill tag");
}

TEST(BriefReason, is_the_whole_reason_of_a_cell_that_is_not_wrong) {
  Record record;
  record.outcome = Crashed{"plan(): no memory; before that: a guard changed"};
  EXPECT_EQ(brief_reason(record), "plan(): no memory; before that: a guard changed");
  EXPECT_FALSE(has_brief_reason(record));
}

}  // namespace
}  // namespace attnbench
