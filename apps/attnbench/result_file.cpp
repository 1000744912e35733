// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "apps/attnbench/result_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "lib/base/error.h"

namespace attnbench {
namespace {

[[noreturn]] void fail(const std::string& path, int reason) {
  throw EnvironmentError(fmt::format("cannot write {}: {}", path,
                                     reason != 0 ? std::strerror(reason) : "the stream failed"));
}

void write_stream(const std::string& path, std::ostream& out,
                  const std::function<void(std::ostream&)>& write) {
  errno = 0;
  write(out);
  out.flush();
  if (!out) fail(path, errno);
}

}  // namespace

void write_result_file(const std::string& path, std::ostream& standard_output,
                       const std::function<void(std::ostream&)>& write) {
  if (path == "-") {
    write_stream("standard output", standard_output, write);
    return;
  }
  std::error_code ignored;
  const bool special =
      std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored);
  const std::string target = special ? path : path + ".part";
  errno = 0;
  std::ofstream file(target, std::ios::binary);
  if (!file) fail(path, errno);
  try {
    write_stream(path, file, write);
    errno = 0;
    file.close();
    if (file.fail()) fail(path, errno);
  } catch (...) {
    if (!special) std::filesystem::remove(target, ignored);
    throw;
  }
  if (special) return;
  std::error_code failed;
  std::filesystem::rename(target, path, failed);
  if (failed) fail(path, failed.value());
}

}  // namespace attnbench
