// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>
#include <string>

#include "apps/fuzz/fuzz_target.h"
#include "lib/base/error.h"
#include "lib/result/result_reader.h"
#include "lib/result/sinks.h"

namespace {

/// A file of these bytes that no folder holds.
class MemoryFile {
 public:
  MemoryFile(const void* bytes, std::size_t size) : descriptor_(memfd_create("results", 0)) {
    if (write(descriptor_, bytes, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

std::string text_of(const attnbench::RunResult& run) {
  std::ostringstream text;
  attnbench::write_json(run, text);
  return text.str();
}

}  // namespace

/// A result file or a journal. What is read is written and read again without a difference.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string text;
  try {
    text = text_of(attnbench::read_results(MemoryFile(bytes, size).path()));
  } catch (const attnbench::ConfigError&) {
    return 0;
  } catch (const attnbench::EnvironmentError&) {  // of a newer version
    return 0;
  }
  if (text_of(attnbench::read_results(MemoryFile(text.data(), text.size()).path())) != text) {
    std::abort();
  }
  return 0;
}
