// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/model/hf_index_sharing.h"

#include <gtest/gtest.h>

#include <string>

#include "lib/model/testing/read_hf.h"

namespace attnbench {
namespace {

TEST(HfIndexSharing, of_sparse_layers_counts_those_that_share_an_indexer) {
  const auto shared = [](const std::string& keys) {
    return read_hf(R"({"model_type": "glm_moe_dsa", "num_hidden_layers": 10, )" + keys + "}")
        .index_shared;
  };
  EXPECT_EQ(read_hf(R"({"model_type": "glm_moe_dsa"})").index_shared, 0);
  EXPECT_EQ(shared(R"("index_topk_freq": 4)"), 6) << "0, 1, 5 and 9 have their own";
  EXPECT_EQ(shared(R"("index_topk_freq": 4, "index_skip_topk_offset": 3)"), 6) << "0, 1, 2 and 6";
  EXPECT_EQ(shared(R"("index_topk_freq": null, "index_topk_pattern": "FFSSSFSSSF")"), 6);
  EXPECT_EQ(shared(R"("index_topk_freq": 4, "index_topk_pattern": "FSSSSSSSSSS")"), 9)
      << "the pattern counts, up to the last layer";
  EXPECT_EQ(shared(R"("indexer_types": ["full", "full", "shared", "shared", "shared", "full",
                      "shared", "shared", "shared", "full"])"),
            6);
  const ModelGeometry model = read_hf(R"({"model_type": "glm_moe_dsa", "index_topk_freq": 4})");
  EXPECT_EQ(model.index_shared, 57) << "as many as GLM-5.2's";
  EXPECT_NE(model.notes.find("57 sparse layers attend to the keys that an earlier one took"),
            std::string::npos);
  EXPECT_EQ(read_hf(R"({"model_type": "deepseek_v3"})").index_shared, 0);
}

TEST(HfIndexSharing, refuses_lists_of_indexers_that_do_not_fit_its_layers) {
  const auto refused = [](const std::string& keys) {
    return hf_refusal(R"({"model_type": "glm_moe_dsa", "num_hidden_layers": 3, )" + keys + "}");
  };
  EXPECT_EQ(refused(R"("index_topk_pattern": "FS")"),
            "c.json: index_topk_pattern has 2 entries for 3 layers");
  EXPECT_EQ(refused(R"("index_topk_pattern": "FXS")"),
            "c.json: index_topk_pattern has \"X\"; known are full and shared, or F and S");
  EXPECT_EQ(refused(R"("indexer_types": ["shared", "full", "full"])"),
            "c.json: indexer_types: the first layer shares an indexer, and none stands before it");
  EXPECT_NE(refused(R"("index_topk_freq": 2, "index_skip_topk_offset": 0)")
                .find("index_skip_topk_offset: the first layer shares"),
            std::string::npos);
  EXPECT_NE(refused(R"("index_topk_freq": 0)").find("index_topk_freq is 0"), std::string::npos);
  EXPECT_NE(refused(R"("index_topk_freq": 2, "layer_types": ["indexed_attention",
                      "indexed_attention", "full_attention"])")
                .find("beside layers that are not sparse"),
            std::string::npos);
}

}  // namespace
}  // namespace attnbench
