// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <random>

#include "backends/testing/select_conformance.h"
#include "backends/topk/select.cuh"
#include "backends/topk/topk.h"
#include "lib/base/int_math.h"
#include "lib/device/testing/gpu_test.h"
#include "lib/index/selected_fault.h"

namespace attnbench::topk {
namespace {

using Rows = std::vector<std::vector<float>>;

/// Rows of `units` scores that are hard to tell apart, or of which few kinds exist, and a normal
/// one.
Rows hard_rows(std::int64_t units) {
  Rows rows;
  const auto add = [&](const auto& score_of) {
    std::vector<float>& row = rows.emplace_back();
    for (std::int64_t i = 0; i < units; ++i) row.push_back(static_cast<float>(score_of(i)));
  };
  std::mt19937 bits(7);
  std::normal_distribution<double> normal;
  add([&](std::int64_t) { return normal(bits); });
  add([&](std::int64_t) { return std::round(normal(bits) * 4) / 4; });
  add([](std::int64_t i) { return i % 3 == 0 ? -0.0 : 0.0; });
  add([](std::int64_t i) { return i % 2 == 0 ? 1 : 2; });
  add([](std::int64_t i) { return i; });
  add([](std::int64_t i) { return -i; });
  add([](std::int64_t i) { return 1 + std::ldexp(static_cast<double>(i), -20); });
  add([](std::int64_t i) { return 1 + std::ldexp(static_cast<double>(i % 700), -23); });
  add([](std::int64_t i) { return i < 40 ? 1 : std::numeric_limits<float>::lowest(); });
  add([](std::int64_t i) { return i < 5000 ? 3 : std::sin(static_cast<double>(i)); });
  add([&](std::int64_t) { return normal(bits) * 1e37; });
  add([&](std::int64_t) { return normal(bits) * 1e-39; });
  return rows;
}

/// The lists that `blocks` a row make of rows whose memory goes on with infinity, two of them a
/// token: the first fault of each row.
class SelectedRows {
 public:
  SelectedRows(Device& device, const Rows& rows) : device_(&device), rows_(&rows) {
    std::size_t longest = 0;
    for (const std::vector<float>& row : rows) longest = std::max(longest, row.size());
    columns_ = round_up(static_cast<std::int64_t>(longest) + 1, 64);
    std::vector<float> logits;
    std::vector<std::int32_t> lens;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      logits.insert(logits.end(), rows[i].begin(), rows[i].end());
      logits.resize((i + 1) * to_size(columns_), std::numeric_limits<float>::infinity());
      if (i % 2 == 0) lens.push_back(static_cast<std::int32_t>(rows[i].size()));
    }
    logits_ = on_device(logits);
    lens_ = on_device(lens);
  }

  /// With `tails`, every other token has one, behind up to topk - 1 units.
  [[nodiscard]] std::vector<std::string> faults(std::int64_t topk, int blocks,
                                                bool tails = false) const {
    const std::size_t lists = rows_->size(), columns = to_size(topk);
    const auto tail_of = [](std::size_t row) { return row / 2 % 2 == 0 ? -1 : 7654321; };
    std::vector<std::int32_t> of_tokens;
    for (std::size_t row = 0; row < lists; row += 2) of_tokens.push_back(tail_of(row));
    const auto tails_there = on_device(of_tokens);
    const auto indices = on_device(std::vector<std::int32_t>(lists * columns, kUnselected));
    const auto lengths = on_device(std::vector<std::int32_t>(lists, kUnselected));
    const IndexScores scores{.logits = values_of<float>(*logits_),
                             .row_lens = values_of<std::int32_t>(*lens_),
                             .tails = tails ? values_of<std::int32_t>(*tails_there) : nullptr,
                             .tokens = std::ssize(*rows_) / 2,
                             .groups = 2,
                             .columns = columns_};
    const auto stream = device_->make_stream();
    enqueue_select(scores, topk, blocks, values_of<std::int32_t>(*indices),
                   values_of<std::int32_t>(*lengths), static_cast<cudaStream_t>(stream->native()));
    stream->synchronize();
    const std::vector<std::int32_t> ids = on_host(*indices);
    std::vector<std::int32_t> taken = on_host(*lengths);
    std::vector<std::string> faults;
    for (std::size_t i = 0; i < lists; ++i) {
      std::vector<std::int32_t> units(ids.begin() + static_cast<std::ptrdiff_t>(i * columns),
                                      ids.begin() + static_cast<std::ptrdiff_t>((i + 1) * columns));
      if (tails) {
        const std::size_t column = std::min((*rows_)[i].size(), columns - 1);
        if (units[column] != tail_of(i)) faults.push_back(fmt::format("the tail of row {}", i));
        units.erase(units.begin() + static_cast<std::ptrdiff_t>(column));
        if (tail_of(i) >= 0) --taken[i];
      }
      const SelectedList list{units, taken[i]};
      const std::string fault =
          fault_of_selected(fmt::format("row {}", i), "key", (*rows_)[i], list);
      if (!fault.empty()) faults.push_back(fault);
    }
    return faults;
  }

 private:
  template <class T>
  [[nodiscard]] std::unique_ptr<Buffer> on_device(const std::vector<T>& values) const {
    auto buffer = device_->allocate(values.size() * sizeof(T), "test");
    device_->copy_from_host(buffer->data(), values.data(), values.size() * sizeof(T));
    return buffer;
  }
  template <class T>
  [[nodiscard]] static T* values_of(Buffer& buffer) {
    return static_cast<T*>(static_cast<void*>(buffer.data()));
  }
  [[nodiscard]] std::vector<std::int32_t> on_host(Buffer& buffer) const {
    std::vector<std::int32_t> values(buffer.size() / sizeof(std::int32_t));
    device_->copy_to_host(values.data(), buffer.data(), buffer.size());
    EXPECT_TRUE(buffer.guards_intact());
    return values;
  }

  Device* device_;
  const Rows* rows_;
  std::int64_t columns_ = 0;
  std::unique_ptr<Buffer> logits_, lens_;
};

using TopKCuda = GpuTest;

TEST_F(TopKCuda, selects_the_keys_of_the_highest_scores_of_all_small_cases) {
  conformance::expect_selected_keys([] { return std::make_unique<GpuSelector>(); }, *device_);
}

TEST_F(TopKCuda, selects_among_scores_that_are_equal_or_nearly_so_by_any_number_of_blocks) {
  for (const std::int64_t units : {2049, 4097, 9001, 131071, 150001}) {
    const Rows rows = hard_rows(units);
    const SelectedRows selected(*device_, rows);
    for (int blocks = 1; blocks <= most_blocks_of_row(); blocks *= 2) {
      for (const std::int64_t topk : {1, 100, 2048, 40000}) {
        EXPECT_THAT(selected.faults(topk, blocks), testing::IsEmpty())
            << units << " units, top " << topk << ", blocks " << blocks;
      }
    }
  }
}

TEST_F(TopKCuda, lists_tails_behind_what_it_selects_by_any_number_of_blocks) {
  for (const std::int64_t units : {3, 2047, 2048, 9001, 150001}) {
    const Rows rows = hard_rows(units);
    const SelectedRows selected(*device_, rows);
    for (int blocks = 1; blocks <= most_blocks_of_row(); blocks *= 2) {
      for (const std::int64_t topk : {2, 4, 2048}) {
        EXPECT_THAT(selected.faults(topk, blocks, true), testing::IsEmpty())
            << units << " units, top " << topk << ", blocks " << blocks;
      }
    }
  }
}

TEST_F(TopKCuda, takes_as_many_blocks_as_hold_a_row_and_more_for_few_rows) {
  const int most = most_blocks_of_row();
  const auto blocks_of = [](std::int64_t rows, std::int64_t columns) {
    return blocks_of_row({.tokens = rows, .columns = columns});
  };
  EXPECT_EQ(blocks_of(1, 8192), 1);
  EXPECT_EQ(blocks_of(1, 16384), std::min(most, 2));
  EXPECT_EQ(blocks_of(1, 32768), std::min(most, 4));
  EXPECT_EQ(blocks_of(64, 131072), most);
  EXPECT_EQ(blocks_of(4096, 32768), 1) << "no room for a second one";
  EXPECT_EQ(blocks_of(4096, 131072), 1);
  EXPECT_EQ(blocks_of(1, 1 << 20), most);
}

}  // namespace
}  // namespace attnbench::topk
