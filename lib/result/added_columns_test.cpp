// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/added_columns.h"

#include <gmock/gmock.h>

#include <sstream>

#include "lib/result/sinks.h"
#include "lib/result/testing/sample_run.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::Pair;

Record swept() {
  Record r = sample_run().records[0];
  r.sweep = {{"batch[0].kv_len", "8k"}, {"kv_cache.k_scale", "0.5"}, {"placement", "shuffled"}};
  r.groups = {{"chat", 2, 3, 8192}, {"prompt", 1, 512, 512}};
  return r;
}

TEST(AddedColumns, hold_swept_values_as_plain_numbers) {
  EXPECT_THAT(swept_numbers(swept()),
              ElementsAre(Pair("batch[0].kv_len", 8192), Pair("kv_cache.k_scale", 0.5)));
}

TEST(AddedColumns, are_those_of_all_records_and_empty_where_one_has_no_such_number) {
  RunResult run = sample_run();
  Record other = swept();
  other.sweep = {{"tp", "2"}};
  other.groups.clear();
  run.records = {swept(), other};
  EXPECT_THAT(added_columns(run),
              ElementsAre("sweep:batch[0].kv_len", "sweep:kv_cache.k_scale", "q_len:chat",
                          "kv_len:chat", "q_len:prompt", "kv_len:prompt", "sweep:tp"));
  EXPECT_EQ(added_text("sweep:batch[0].kv_len", swept()), "8192");
  EXPECT_EQ(added_text("q_len:chat", swept()), "1.5");
  EXPECT_EQ(added_text("kv_len:chat", swept()), "4096");
  EXPECT_EQ(added_text("kv_len:chat", other), "");
}

}  // namespace
}  // namespace attnbench
