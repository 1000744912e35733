// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/backend/include/attnbench/backend.h"
#include "lib/backend/plugin.h"
#include "lib/base/error.h"

namespace attnbench {
namespace {

int takes_all(void*, const attnbench_problem*, char*, std::size_t) { return ATTNBENCH_OK; }
int plans_nothing(void*, const attnbench_batch*, const attnbench_memory*, void**, char*,
                  std::size_t) {
  return ATTNBENCH_ERROR;
}
int runs_nothing(void*, void*, char*, std::size_t) { return ATTNBENCH_ERROR; }

int packed_first(void*, const attnbench_problem* problem, std::int32_t* layouts,
                 std::int32_t* count, char*, std::size_t) {
  const bool by_token = problem->cache_scales == ATTNBENCH_SCALES_TOKEN;
  layouts[0] = ATTNBENCH_X_PACKED;
  layouts[1] = ATTNBENCH_COMBINED;
  *count = by_token ? 1 : 2;
  return ATTNBENCH_OK;
}
int unknown_layout(void*, const attnbench_problem*, std::int32_t* layouts, std::int32_t* count,
                   char*, std::size_t) {
  layouts[0] = 9;
  *count = 1;
  return ATTNBENCH_OK;
}
int too_many(void*, const attnbench_problem*, std::int32_t*, std::int32_t* count, char*,
             std::size_t) {
  *count = ATTNBENCH_JOINT_HND + 2;
  return ATTNBENCH_OK;
}

std::vector<KvLayout> formats_of(decltype(attnbench_backend::formats) formats, KvScales scales) {
  attnbench_backend table{};
  table.struct_size = sizeof table;
  table.name = "asked";
  table.supports = takes_all;
  table.plan = plans_nothing;
  table.run = runs_nothing;
  table.formats = formats;
  Registry registry;
  register_tables(&table, 1, "test", "", registry);
  Problem problem;
  problem.cache.scales = scales;
  return registry.find("asked")->make()->formats(problem);
}

BackendInfo info_of_variant() {
  attnbench_backend table{};
  table.struct_size = sizeof table;
  table.name = "mine:splits=16";
  table.supports = takes_all;
  table.plan = plans_nothing;
  table.run = runs_nothing;
  table.only_by_name = 1;
  table.engine_flag = "--kv-splits 16";
  Registry registry;
  register_tables(&table, 1, "test", "", registry);
  return registry.find("mine:splits=16")->info;
}

TEST(PluginVariants, name_a_value_and_the_flag_that_sets_it) {
  EXPECT_EQ(info_of_variant().engine_flag, "--kv-splits 16");
  EXPECT_FALSE(info_of_variant().by_default);
}

using Layouts = std::vector<KvLayout>;

TEST(PluginFormats, are_what_the_table_says) {
  EXPECT_EQ(formats_of(packed_first, KvScales::kTensor),
            (Layouts{KvLayout::kXPacked, KvLayout::kCombined}));
  EXPECT_EQ(formats_of(packed_first, KvScales::kToken), (Layouts{KvLayout::kXPacked}));
}

TEST(PluginFormats, of_a_table_that_says_nothing_are_nhd_and_hnd) {
  const Layouts plain{KvLayout::kNhd, KvLayout::kHnd};
  EXPECT_EQ(formats_of(nullptr, KvScales::kTensor), plain);
  EXPECT_TRUE(formats_of(nullptr, KvScales::kHead).empty());
}

TEST(PluginTables, that_end_before_the_last_member_are_refused) {
  attnbench_backend table{};
  table.struct_size = offsetof(attnbench_backend, reads_queries_apart);
  table.name = "short";
  table.supports = takes_all;
  table.plan = plans_nothing;
  table.run = runs_nothing;
  Registry registry;
  EXPECT_THROW(register_tables(&table, 1, "test", "", registry), ConfigError);
}

TEST(PluginFormats, that_cannot_be_are_an_error) {
  EXPECT_THROW(static_cast<void>(formats_of(unknown_layout, KvScales::kTensor)),
               std::runtime_error);
  EXPECT_THROW(static_cast<void>(formats_of(too_many, KvScales::kTensor)), std::runtime_error);
}

}  // namespace
}  // namespace attnbench
