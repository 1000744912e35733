// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0

// What the parts of a step beside attention cost, and pipelines of them.
#include <gtest/gtest.h>

#include <cstdint>

#include "lib/base/int_math.h"
#include "lib/cost/cost.h"
#include "lib/cost/testing/batches.h"

namespace attnbench {
namespace {

TEST(CostOfParts, counts_what_a_build_of_index_arrays_reads_and_writes) {
  Case c;
  c.step = StepPart::kIndex;
  c.kv_cache.page_size = 16;
  c.requests.resize(3);
  c.requests[0].kv_len = 1;   // 1 page
  c.requests[1].kv_len = 33;  // 3 pages
  c.requests[2].kv_len = 16;  // 1 page
  Cost csr = count_cost(c);
  EXPECT_EQ(csr.kv_bytes_written, 4 * (3 + 5)) << "kv_indptr behind its 0, and kv_indices";
  EXPECT_EQ(csr.bytes_unique, 4 * (3 + 3 + 5) + csr.kv_bytes_written);
  EXPECT_EQ(csr.bytes_streamed, csr.bytes_unique);
  EXPECT_EQ(csr.flops, 0);
  c.index_form = IndexForm::kPageTable;
  EXPECT_EQ(count_cost(c).kv_bytes_written, 4 * 5) << "nothing behind a request's pages";
  c.padding.requests = 2;  // of one key each
  EXPECT_EQ(count_cost(c).kv_bytes_written, 4 * 7);
}

TEST(CostOfParts, counts_the_logits_that_a_selection_sees_and_its_lists) {
  Case c = batch_of(2, 3, 100);  // 98, 99 and 100 keys are seen
  c.step = StepPart::kSelect;
  c.layer.selection = {.topk = 16};
  const Cost all = count_cost(c);
  EXPECT_EQ(all.kv_bytes_written, 6 * (16 + 1) * 4) << "lists and their lengths";
  EXPECT_EQ(all.bytes_unique, 2 * (98 + 99 + 100) * 4 + 6 * 4 + all.kv_bytes_written);
  EXPECT_EQ(all.bytes_streamed, all.bytes_unique);
  EXPECT_EQ(all.flops, 0);
  EXPECT_EQ(all.visible_pairs, 0);
  c.layer.selection.groups = SelectionGroups::kKvHeads;
  c.layer.selection.unit = 10;  // 10 units for each of them
  c.padding.tokens = 2;         // see nothing, and have lists
  const Cost units = count_cost(c);
  EXPECT_EQ(units.kv_bytes_written, 8 * 8 * (16 + 1) * 4) << "of 8 KV heads";
  EXPECT_EQ(units.bytes_unique, 8 * 60 * 4 + 8 * 4 + units.kv_bytes_written);
}

TEST(CostOfParts, counts_each_key_that_an_indexer_reads_once_and_the_logits_that_it_writes) {
  Case c = batch_of(2, 3, 100);  // 98, 99 and 100 keys are seen
  c.step = StepPart::kIndexer;
  c.layer.selection = {.topk = 16, .index_heads = 32};
  const Cost all = count_cost(c);
  const std::int64_t seen = 2 * (98 + 99 + 100), pages = ceil_div(100, c.kv_cache.page_size);
  const std::int64_t rest = 6 * (32 * (128 + 4) + 4) + 2 * pages * 4 + seen * 4;
  EXPECT_EQ(all.kv_bytes_written, seen * 4);
  EXPECT_EQ(all.bytes_unique, 2 * 100 * 132 + rest) << "whatever is chosen of them";
  EXPECT_EQ(all.bytes_streamed, all.bytes_unique);
  EXPECT_EQ(all.flops, seen * 32 * 2 * 128);
}

TEST(CostOfParts, of_maxima_counts_each_key_in_bf16_and_a_logit_for_each_unit_and_group) {
  Case c = batch_of(2, 3, 300);  // 298, 299 and 300 keys are seen: 3 units of 128
  c.step = StepPart::kIndexer;
  c.layer.selection = {.topk = 16,
                       .unit = 128,
                       .groups = SelectionGroups::kKvHeads,
                       .score = SelectionScore::kMax,
                       .index_heads = 8};
  const Cost all = count_cost(c);
  const std::int64_t keys = 2 * (298 + 299 + 300), pages = ceil_div(300, c.kv_cache.page_size);
  EXPECT_EQ(all.kv_bytes_written, 6 * 3 * 8 * 4);
  EXPECT_EQ(all.flops, keys * 8 * 2 * 128);
  EXPECT_EQ(all.bytes_unique,
            2 * 300 * 256 + 6 * (8 * 256 + 4) + 2 * pages * 4 + all.kv_bytes_written);
}

TEST(CostOfParts,
     of_representations_counts_a_row_of_bf16_for_each_page_before_the_window_and_kv_head) {
  Case c =
      batch_of(2, 3, 300);  // 298, 299 and 300 keys: 15, 15 and 16 pages of 16 before 44 of them
  c.step = StepPart::kIndexer;
  c.kv_cache.page_size = 16;
  c.layer.selection = {.topk = 4,
                       .unit = 16,
                       .groups = SelectionGroups::kKvHeads,
                       .score = SelectionScore::kHead,
                       .index_heads = 32,
                       .window = 44};
  const Cost head = count_cost(c);
  const std::int64_t logits = 2 * (15 + 15 + 16) * 8 * 4, versions = 2 * 4;
  const std::int64_t rest = 6 * (32 * 256 + 4) + 2 * 16 * 4 + logits;
  EXPECT_EQ(head.kv_bytes_written, logits);
  EXPECT_EQ(head.bytes_unique, 2 * 16 * (8 * 256 + versions) + rest);
  EXPECT_EQ(head.flops, 2 * (15 + 15 + 16) * 32 * 2 * 128);
  c.layer.selection.score = SelectionScore::kGroup;
  EXPECT_EQ(count_cost(c).flops, head.flops / 4) << "of four heads that are summed first";
  c.layer.selection.score = SelectionScore::kBounds;
  EXPECT_EQ(count_cost(c).flops, 2 * head.flops);
  EXPECT_EQ(count_cost(c).bytes_unique, head.bytes_unique + 2 * 16 * 8 * 256);
  c = with_step(c, StepPart::kSelect);
  c.layer.selection.softmax = SelectionSoftmax::kUnits;
  EXPECT_EQ(count_cost(c).kv_bytes_written, 6 * 8 * (4 + 4 + 1) * 4) << "and a score of each entry";
}

TEST(CostOfParts, of_labels_counts_the_heavy_channels_of_queries_and_of_each_kv_head_s_keys) {
  Case c = batch_of(2, 1, 300);
  c.step = StepPart::kIndexer;
  c.kv_cache.page_size = 16;
  c.layer.selection = {.topk = 16,
                       .groups = SelectionGroups::kHeads,
                       .score = SelectionScore::kChannels,
                       .index_heads = 32,
                       .channels = 24};
  const Cost all = count_cost(c);
  const std::int64_t logits = 2 * 300 * 32 * 4;
  EXPECT_EQ(all.kv_bytes_written, logits);
  EXPECT_EQ(all.bytes_unique,
            2 * 300 * 8 * (24 * 2) + 2 * (32 * 24 * 2 + 4) + 2 * 19 * 4 + 8 * 24 * 4 + logits);
  EXPECT_EQ(all.flops, 2 * 300 * 32 * 2 * 24);
}

TEST(CostOfParts, of_lists_of_heads_counts_a_key_once_that_several_heads_of_a_kv_head_choose) {
  Case c = batch_of(1, 1, 1000);
  c.layer.selection = {.topk = 1000, .groups = SelectionGroups::kHeads};
  const Cost all = count_cost(c);
  EXPECT_EQ(all.visible_pairs, 1000);
  EXPECT_EQ(all.kv_bytes_unique, 1000 * 8 * (128 + 128) * 2);
  c.layer.selection.topk = 10;
  const Cost few = count_cost(c);
  EXPECT_EQ(few.flops, all.flops / 100);
  EXPECT_GT(few.kv_bytes_unique, all.kv_bytes_unique / 100) << "heads choose other keys";
  EXPECT_LE(few.kv_bytes_unique, all.kv_bytes_unique / 100 * 4);
}

TEST(CostOfParts,
     of_a_pipeline_is_that_of_its_stages_and_nothing_handed_on_has_to_come_from_memory) {
  Case c = batch_of(2, 3, 100);
  c.layer.selection = {.topk = 16, .index_heads = 32};
  const Cost whole = count_cost(with_step(c, StepPart::kPipeline));
  const Cost logits = count_cost(with_step(c, StepPart::kIndexer));
  const Cost lists = count_cost(with_step(c, StepPart::kSelect));
  const Cost attention = count_cost(with_step(c, StepPart::kAttention));
  EXPECT_EQ(whole.flops, logits.flops + attention.flops);
  EXPECT_EQ(whole.visible_pairs, attention.visible_pairs);
  EXPECT_EQ(whole.kv_bytes_unique, attention.kv_bytes_unique);
  EXPECT_EQ(whole.bytes_unique, logits.bytes_unique + lists.bytes_unique + attention.bytes_unique);
  const std::int64_t of_logits = 2 * (98 + 99 + 100) * 4, of_lists = 6 * (16 + 1) * 4;
  EXPECT_EQ(whole.kv_bytes_written, 2 * (of_logits + of_lists)) << "written, and read again";

  const Cost layer = count_cost(with_step(c, StepPart::kKvPipeline));
  const Cost both = count_cost(with_step(c, StepPart::kBoth));
  EXPECT_EQ(layer.flops, whole.flops);
  EXPECT_EQ(layer.bytes_unique - whole.bytes_unique, both.bytes_unique - attention.bytes_unique);
  EXPECT_EQ(layer.kv_bytes_written - whole.kv_bytes_written, both.kv_bytes_written);
}

TEST(CostOfParts, counts_what_an_index_write_reads_and_leaves) {
  Case c = batch_of(2, 3, 100);
  c.layer.selection = {.topk = 16, .index_heads = 32};
  const Cost write = count_cost(with_step(c, StepPart::kIndexWrite));
  EXPECT_EQ(write.bytes_unique, 6 * (256 + 8 + 132)) << "a key, its slot, its row";
  EXPECT_EQ(write.kv_bytes_written, 6 * 132);
  EXPECT_EQ(write.flops, 0);
  const Cost layer = count_cost(with_step(c, StepPart::kLayer));
  const Cost without = count_cost(with_step(c, StepPart::kKvPipeline));
  EXPECT_EQ(layer.flops, without.flops);
  EXPECT_EQ(layer.bytes_unique - without.bytes_unique, 6 * (256 + 8))
      << "the indexer's reads have the rows";
  EXPECT_EQ(layer.kv_bytes_written - without.kv_bytes_written, write.kv_bytes_written);
  c.layer.selection.score = SelectionScore::kMax;
  EXPECT_EQ(count_cost(with_step(c, StepPart::kIndexWrite)).kv_bytes_written, 6 * 256);
}

TEST(CostOfParts, counts_what_a_write_of_pools_reads_and_leaves) {
  Case c = batch_of(2, 3, 97);  // 94 keys, then 3: the second of them closes a pool of 16
  c.kv_cache.page_size = 16;
  c.layer.selection = {.topk = 16, .unit = 16, .tail = SelectionTail::kOpen, .index_heads = 32};
  const Cost write = count_cost(with_step(c, StepPart::kIndexWrite));
  const std::int64_t key_and_gate = 2 * 256, ape = 16 * 128 * 4;
  EXPECT_EQ(write.kv_bytes_written, 2 * (132 + key_and_gate)) << "a row, and one key waits";
  EXPECT_EQ(write.bytes_unique - write.kv_bytes_written,
            2 * (3 * (key_and_gate + 8 + 8) + 14 * key_and_gate + 12) + ape)
      << "14 keys waited, and WaitingKeys say where";
  const Cost layer = count_cost(with_step(c, StepPart::kLayer));
  const Cost without = count_cost(with_step(c, StepPart::kKvPipeline));
  EXPECT_EQ(layer.bytes_unique - without.bytes_unique, write.bytes_unique - 2 * 132)
      << "the indexer's reads have the rows";
  EXPECT_EQ(layer.kv_bytes_written - without.kv_bytes_written, write.kv_bytes_written);
  for (Request& each : c.requests) each.kv_len = 95;  // 92 and 3
  EXPECT_EQ(count_cost(with_step(c, StepPart::kIndexWrite)).bytes_unique,
            2 * 3 * (2 * key_and_gate + 8 + 8))
      << "no pool is closed: keys are brought to the ring";
}

TEST(CostOfParts, counts_what_a_compressor_reads_and_leaves) {
  Case c = batch_of(2, 3, 97);  // 94 tokens, then 3: the second of them completes a row of 4
  c.kv_cache.page_size = 128;
  c.layer.head_dim_qk = 512;
  c.layer.compress_ratio = 4;
  const Cost rows = count_cost(with_step(c, StepPart::kCompress));
  const std::int64_t state = 2 * 2 * 512 * 4, ape = 4 * 2 * 512 * 4;
  EXPECT_EQ(rows.kv_bytes_written, 2 * (512 * 2 + 3 * state)) << "the next row is of all three";
  EXPECT_EQ(rows.bytes_unique - rows.kv_bytes_written,
            2 * (3 * (state + 8 + 8) + 6 * state + 12) + ape)
      << "4 tokens of the row before waited, and 2 of this one";
  EXPECT_EQ(rows.flops, 0);
}

TEST(CostOfParts, counts_the_rows_of_complete_pools_that_an_indexer_reads) {
  Case c = batch_of(2, 3, 4099);  // 4097, 4098 and 4099 keys are seen: 256 pools of 16
  c.step = StepPart::kIndexer;
  c.kv_cache.page_size = 64;
  c.layer.selection = {.topk = 128, .unit = 16, .index_heads = 32};
  const std::int64_t seen = 6 * 256, rest = 6 * (32 * (128 + 4) + 4) + 2 * 64 * 4 + seen * 4;
  const Cost apart = count_cost(c);
  EXPECT_EQ(apart.bytes_unique, 2 * 256 * 132 + rest) << "and none of the page of the open pool";
  EXPECT_EQ(apart.flops, seen * 32 * 2 * 128);
  c.prefixes = {{.length = 1023}};  // 15 whole pages
  for (Request& each : c.requests) {
    each.shared_prefix = 0;
    each.shared_len = 1023;
  }
  const Cost shared = count_cost(c);
  EXPECT_EQ(apart.bytes_unique - shared.bytes_unique, 15 * 4 * 132);
  EXPECT_EQ(shared.bytes_streamed, apart.bytes_streamed);
}

}  // namespace
}  // namespace attnbench
