// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/ncu_csv.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lib/base/error.h"

namespace attnbench {
namespace {

class NcuCsv : public testing::Test {
 protected:
  NcuCsv() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "attnbench-ncu-XXXXXX").string();
    close(mkstemp(pattern.data()));
    path_ = pattern;
  }
  ~NcuCsv() override { std::filesystem::remove(path_); }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string message() const {
    try {
      static_cast<void>(read_ncu_csv(path_));
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "accepted";
  }
  std::string path_;
};

constexpr const char* kHeader =
    "\"ID\",\"Kernel "
    "Name\",\"dram__bytes_read.sum\",\"dram__bytes_write.sum\",\"gpu__time_duration."
    "sum\",\"lts__t_sector_hit_rate.pct\"\n";

TEST_F(NcuCsv, is_read_with_its_units_and_grouped_digits) {
  write(std::string("==PROF== Connected\n") + kHeader +
        "\"\",\"\",\"Mbyte\",\"Kbyte\",\"ns\",\"%\"\n" +
        "\"0\",\"void decode<128, true>(Params)\",\"2,147.5\",\"12.5\",\"498,000\",\"3.5\"\n");
  const auto kernels = read_ncu_csv(path_);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "void decode<128, true>(Params)");
  EXPECT_DOUBLE_EQ(kernels[0].dram_read_bytes, 2147.5e6);
  EXPECT_DOUBLE_EQ(kernels[0].dram_write_bytes, 12.5e3);
  EXPECT_DOUBLE_EQ(kernels[0].time_us, 498);
  EXPECT_DOUBLE_EQ(kernels[0].l2_hit_rate, 0.035);
}

TEST_F(NcuCsv, names_the_metric_that_is_missing) {
  write("\"ID\",\"Kernel Name\",\"dram__bytes_read.sum\"\n");
  EXPECT_THAT(message(), testing::HasSubstr("dram__bytes_write.sum"));
}

TEST_F(NcuCsv, says_how_the_file_is_made_when_it_holds_no_table) {
  write("==ERROR== nothing was profiled\n");
  EXPECT_THAT(message(), testing::HasSubstr("--csv --page raw"));
}

TEST_F(NcuCsv, refuses_a_unit_it_does_not_know) {
  write(std::string(kHeader) +
        "\"\",\"\",\"furlong\",\"byte\",\"ns\",\"%\"\n\"0\",\"k\",\"1\",\"1\",\"1\",\"1\"\n");
  EXPECT_THAT(message(), testing::HasSubstr("furlong"));
}

}  // namespace
}  // namespace attnbench
