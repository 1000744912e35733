// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/result/result_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <ostream>

#include "lib/base/error.h"

namespace attnbench {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as many as the kernel follows

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

/// Neither a regular file nor absent: a pipe, a device, a folder.
bool is_special(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored) && !fs::is_regular_file(path, ignored);
}

std::string part_of(const std::string& target) { return target + ".part"; }

}  // namespace

std::string link_target(const std::string& path) {
  if (is_special(path)) return path;  // /dev/stdout leads to names like "pipe:[7]"
  fs::path target = path;
  std::error_code failed;
  for (int links = 0; links < kMostLinks && fs::is_symlink(target, failed); ++links) {
    const fs::path next = fs::read_symlink(target, failed);
    if (failed) break;
    target = target.parent_path() / next;  // an absolute one replaces all
  }
  return target.string();
}

bool same_file(const std::string& a, const std::string& b) {
  if (a == "-" || b == "-") return a == b;
  std::error_code unreadable;
  return fs::weakly_canonical(link_target(a), unreadable) ==
         fs::weakly_canonical(link_target(b), unreadable);
}

void expect_writable(const std::string& path) {
  const std::string target = link_target(path);
  std::error_code ignored;
  if (fs::is_directory(target, ignored)) fail(path, EISDIR);
  if (is_special(target)) {  // opening a pipe would wait for its reader
    if (access(target.c_str(), W_OK) != 0) fail(path, errno);
    return;
  }
  errno = 0;
  const bool opens = std::ofstream(part_of(target), std::ios::binary).is_open();
  const int reason = errno;
  if (!opens) fail(path, reason);
  fs::remove(part_of(target), ignored);
}

void write_result_file(const std::string& path, std::ostream& standard_output,
                       const std::function<void(std::ostream&)>& write) {
  if (path == "-") {
    write_stream("standard output", standard_output, write);
    return;
  }
  const std::string final_target = link_target(path);
  const bool special = is_special(final_target);
  const std::string target = special ? final_target : part_of(final_target);
  std::error_code ignored;
  errno = 0;
  std::ofstream file(target, std::ios::binary);
  if (!file) fail(path, errno);
  try {
    write_stream(path, file, write);
    errno = 0;
    file.close();
    if (file.fail()) fail(path, errno);
  } catch (...) {
    if (!special) fs::remove(target, ignored);
    throw;
  }
  if (special) return;
  std::error_code failed;
  fs::rename(target, final_target, failed);
  if (failed) fail(path, failed.value());
}

}  // namespace attnbench
