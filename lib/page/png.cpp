// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/page/png.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "lib/base/error.h"
#include "lib/base/shell_text.h"

namespace attnbench {
namespace {

constexpr int kNotFound = 127;  // of a shell that finds no such program

/// A file that is gone when this is.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    const int descriptor = mkstemp(path_.data());
    if (descriptor < 0) fail();
    close(descriptor);
    std::ofstream file(path_, std::ios::binary);
    file << text;
    file.close();
    if (!file) fail();
  }
  ~TemporaryFile() { std::remove(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail() const {
    throw EnvironmentError(fmt::format("cannot write {}: {}", path_, std::strerror(errno)));
  }

  std::string path_ = std::filesystem::temp_directory_path() / "attnbench-plot-XXXXXX";
};

}  // namespace

std::string png_of_svg(const std::string& svg) {
  const TemporaryFile file(svg);
  const std::string command =
      "rsvg-convert --format png --zoom 2 " + shell_quoted(file.path()) + " 2>/dev/null";
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
