// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/index/testing/validate.h"

#include <gtest/gtest.h>

#include "lib/base/error.h"

namespace attnbench {
namespace {

const CsrIndices kGood = {{0, 2, 2, 3}, {4, 1, 7}, {3, 1, 4}};

TEST(ValidateCsr, accepts_indices_inside_the_pool) { EXPECT_NO_THROW(validate_csr(kGood, 8, 4)); }

TEST(ValidateCsr, refuses_indices_outside_the_pool) {
  EXPECT_THROW(validate_csr(kGood, 7, 4), InternalError);
  CsrIndices csr = kGood;
  csr.kv_indices[1] = -1;
  EXPECT_THROW(validate_csr(csr, 8, 4), InternalError);
}

TEST(ValidateCsr, refuses_an_indptr_that_falls_or_ends_elsewhere) {
  CsrIndices csr = kGood;
  csr.kv_indptr = {0, 2, 1, 3};
  EXPECT_THROW(validate_csr(csr, 8, 4), InternalError);
  csr.kv_indptr = {0, 2, 2, 4};
  EXPECT_THROW(validate_csr(csr, 8, 4), InternalError);
  csr.kv_indptr = {1, 2, 2, 3};
  EXPECT_THROW(validate_csr(csr, 8, 4), InternalError);
  csr.kv_indptr = {};
  EXPECT_THROW(validate_csr(csr, 8, 4), InternalError);
}

TEST(ValidateCsr, refuses_last_pages_that_are_empty_or_too_long) {
  EXPECT_THROW(validate_csr(kGood, 8, 3), InternalError);
  CsrIndices csr = kGood;
  csr.kv_last_page_len[1] = 0;
  EXPECT_THROW(validate_csr(csr, 8, 4), InternalError);
  csr.kv_last_page_len = {3, 1};
  EXPECT_THROW(validate_csr(csr, 8, 4), InternalError);
}

TEST(ValidatePageTable, looks_only_at_entries_that_lengths_cover) {
  // Pages of 16: 7, 2 and 10 tokens need one page each, so the second column is never read.
  PageTable table;
  table.page_size = 16;
  table.width = 2;
  table.page_table = {0, 1, 2, -1, 0, 3};
  table.cache_seqlens = {7, 2, 10};
  EXPECT_NO_THROW(validate_page_table(table, 3));
  table.cache_seqlens = {7, 2, 17};
  EXPECT_THROW(validate_page_table(table, 3), InternalError);
  table.cache_seqlens = {7, 17, 10};
  EXPECT_THROW(validate_page_table(table, 4), InternalError);
  table.cache_seqlens = {33, 2, 10};
  EXPECT_THROW(validate_page_table(table, 4), InternalError);
  table.cache_seqlens = {7, 2};
  EXPECT_THROW(validate_page_table(table, 4), InternalError);
}

}  // namespace
}  // namespace attnbench
