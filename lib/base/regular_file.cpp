// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/base/regular_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "lib/base/error.h"

namespace attnbench {
namespace {

class FileDescriptor {
 public:
  /// O_NONBLOCK: opening a pipe would otherwise wait for a writer.
  explicit FileDescriptor(const std::string& path)
      : number_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  ~FileDescriptor() {
    if (number_ >= 0) close(number_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

[[noreturn]] void refuse(const std::string& path, int error) {
  throw ConfigError(
      fmt::format("cannot read {}: {}", path, std::generic_category().message(error)));
}

}  // namespace

std::string read_regular_file(const std::string& path, std::size_t limit) {
  if (path.find('\0') != std::string::npos) {
    throw ConfigError(fmt::format("a path with a NUL in it, which would end it after '{}'",
                                  path.substr(0, path.find('\0'))));
  }
  const FileDescriptor file(path);
  if (file.number() < 0) refuse(path, errno);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) refuse(path, errno);
  if (!S_ISREG(status.st_mode)) {
    throw ConfigError(
        fmt::format("{} is {}; a regular file is needed", path, kind_of(status.st_mode)));
  }
  // One byte more than allowed, read from the file itself: what its size claims may be out of date.
  std::string text(limit + 1, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = read(file.number(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) refuse(path, errno);
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  if (filled > limit) {
    throw ConfigError(fmt::format("{} has more than {} bytes", path, limit));
  }
  text.resize(filled);
  return text;
}

}  // namespace attnbench
