// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "apps/fuzz/fuzz_target.h"
#include "lib/base/error.h"
#include "lib/config/npy_reader.h"

namespace {

/// A file in memory that has a name.
class MemoryFile {
 public:
  MemoryFile(const std::uint8_t* bytes, std::size_t size) : file_(memfd_create("input.npy", 0)) {
    if (file_ < 0 || write(file_, bytes, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { close(file_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", file_); }

 private:
  int file_;
};

}  // namespace

/// Lists of chosen keys that somebody captured.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  constexpr std::array<std::int64_t, 2> kShape{2, 3};
  try {
    const MemoryFile file(bytes, size);
    if (attnbench::read_npy_of_int32(file.path(), kShape).size() != 6) std::abort();
  } catch (const attnbench::ConfigError&) {
  }
  return 0;
}
