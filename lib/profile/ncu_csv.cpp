// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/profile/ncu_csv.h"

#include <csv.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>
#include <utility>

#include "lib/base/error.h"

namespace attnbench {
namespace {

using Reader = io::CSVReader<5, io::trim_chars<' '>, io::double_quote_escape<',', '"'>>;
using Row = std::array<std::string, 5>;

constexpr std::array<const char*, 5> kColumns = {"Kernel Name", "dram__bytes_read.sum",
                                                 "dram__bytes_write.sum", "gpu__time_duration.sum",
                                                 "lts__t_sector_hit_rate.pct"};

/// The table alone: ncu writes its own messages to the same stream.
std::string table_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw EnvironmentError(fmt::format("{}: cannot be read", path));
  std::ostringstream text;
  std::string line;
  bool inside = false;
  while (std::getline(file, line)) {
    inside = inside || line.find("\"Kernel Name\"") != std::string::npos;
    if (inside && !line.empty()) text << line << '\n';
  }
  return std::move(text).str();
}

/// ncu scales each column to a readable unit and names it in the second line.
double unit_factor(const std::string& unit, const std::string& path) {
  constexpr std::array<std::pair<std::string_view, double>, 16> kUnits = {{{"byte", 1},
                                                                           {"Kbyte", 1e3},
                                                                           {"Mbyte", 1e6},
                                                                           {"Gbyte", 1e9},
                                                                           {"Tbyte", 1e12},
                                                                           {"ns", 1e-3},
                                                                           {"nsecond", 1e-3},
                                                                           {"us", 1},
                                                                           {"usecond", 1},
                                                                           {"ms", 1e3},
                                                                           {"msecond", 1e3},
                                                                           {"s", 1e6},
                                                                           {"second", 1e6},
                                                                           {"%", 0.01},
                                                                           {"B", 1},
                                                                           {"", 1}}};
  for (const auto& [name, factor] : kUnits) {
    if (name == unit) return factor;
  }
  throw ConfigError(fmt::format("{}: unknown unit '{}' of Nsight Compute", path, unit));
}

/// "1,234,567.8": thousands are grouped in some locales.
double number(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ','), text.end());
  return std::strtod(text.c_str(), nullptr);
}

bool next(Reader& reader, Row& row) {
  return reader.read_row(row[0], row[1], row[2], row[3], row[4]);
}

}  // namespace

std::vector<NcuKernel> read_ncu_csv(const std::string& path) {
  const std::string text = table_of(path);
  if (text.empty()) {
    throw ConfigError(
        fmt::format("{}: no table of Nsight Compute in it\n   made by: ncu --import REPORT.ncu-rep "
                    "--csv --page "
                    "raw > {}",
                    path, path));
  }
  std::vector<NcuKernel> kernels;
  try {
    Reader reader(path, text.data(), text.data() + text.size());
    reader.read_header(io::ignore_extra_column, kColumns[0], kColumns[1], kColumns[2], kColumns[3],
                       kColumns[4]);
    Row units, row;
    next(reader, units);
    while (next(reader, row)) {
      const auto value = [&](std::size_t i) {
        return number(row[i]) * unit_factor(units[i], path);
      };
      kernels.push_back({row[0], value(1), value(2), value(3), value(4)});
    }
  } catch (const io::error::base& error) {
    throw ConfigError(fmt::format("{}: {}", path, error.what()));
  }
  return kernels;
}

}  // namespace attnbench
