// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/png.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <fstream>

#include "lib/base/error.h"
#include "lib/base/shell_text.h"
#include "lib/base/system.h"

namespace attnbench {
namespace {

constexpr int kNotFound = 127;  // of a shell that finds no such program

}  // namespace

std::string png_of_svg(const std::string& svg) {
  const TemporaryFolder folder("plot");
  const std::string source = folder.file("plot.svg");
  std::ofstream file(source, std::ios::binary);
  file << svg;
  file.close();
  if (!file) throw EnvironmentError(fmt::format("cannot write {}", source));
  const std::string command =
      "rsvg-convert --format png --zoom 2 " + shell_quoted(source) + " 2>/dev/null";
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) throw EnvironmentError("cannot start a shell");
  std::string png;
  std::array<char, 65536> block{};
  for (std::size_t got; (got = fread(block.data(), 1, block.size(), pipe)) > 0;) {
    png.append(block.data(), got);
  }
  const int status = pclose(pipe);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotFound) {
    throw EnvironmentError(
        "a PNG takes rsvg-convert, which is not installed (apt-get install librsvg2-bin); an SVG "
        "takes nothing");
  }
  if (status != 0 || png.empty()) throw EnvironmentError("rsvg-convert failed");
  return png;
}

}  // namespace attnbench
