// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/gate/block_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "lib/view/units.h"

namespace attnbench {
namespace {

std::string number(double y) { return three_digits(y); }

TEST(BlockPlot, draws_points_in_half_blocks_with_marks_on_the_axis) {
  BlockPlot plot{.label = number, .from = "old", .to = "new", .most_columns = 10};
  for (int i = 0; i < 10; ++i) plot.points.push_back({static_cast<double>(i), i < 5 ? 0.0 : 13.0});
  plot.points[1].y = plot.points[1].lo = plot.points[1].hi = 1;
  plot.marks = {{5, "▲"}};
  EXPECT_EQ(block_plot(plot, 80),
            "13.0 ┤     ▀▀▀▀▀\n"
            "     │\n"
            "     │\n"
            "     │\n"
            "     │\n"
            "     │\n"
            "   0 ┤▄▀▄▄▄\n"
            "     └─────▲────\n"
            "      old    new\n");
}

TEST(BlockPlot, draws_intervals_and_a_level) {
  BlockPlot plot{.label = number, .from = "a", .to = "b", .most_columns = 10};
  plot.points = {{0, 2, 0, 4}, {9, 13}};
  plot.level = 6;
  EXPECT_EQ(block_plot(plot, 80),
            "13.0 ┤         ▀\n"
            "     │\n"
            "     │\n"
            "6.00 ┤┄┄┄┄┄┄┄┄┄┄\n"
            "     ││\n"
            "     │▄\n"
            "   0 ┤│\n"
            "     └──────────\n"
            "      a        b\n");
}

TEST(BlockPlot, keeps_to_the_width_and_has_a_line_for_a_single_value) {
  BlockPlot plot{.label = number, .from = "a", .to = "b", .most_columns = 1000};
  for (int i = 0; i < 500; ++i) plot.points.push_back({static_cast<double>(i), 1});
  const std::string text = block_plot(plot, 40);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    EXPECT_LE(display_width(text.substr(at, end - at)), 40u);
    at = end + 1;
  }
  EXPECT_EQ(block_plot({}, 40), "");
}

}  // namespace
}  // namespace attnbench
