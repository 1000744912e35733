// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/npy_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "lib/base/error.h"
#include "lib/base/regular_file.h"

namespace attnbench {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::string_view kInt32 = "<i4";
/// NumPy's own header of an array of integers has some hundred bytes.
constexpr std::size_t kMostHeader = 4096;

/// What the header of a file says.
struct Header {
  std::string type;   ///< "<i4"
  std::string shape;  ///< "4, 1, 16"
  bool in_fortran_order = false;
  std::size_t bytes = 0;  ///< up to the first number
};

/// Behind `key` the text between `open` and `close`, as in 'shape': (4, 1).
std::optional<std::string> value_of(std::string_view text, std::string_view key, char open,
                                    char close) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos || text[begin] != open) return std::nullopt;
  const std::size_t end = text.find(close, begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(text.substr(begin + 1, end - begin - 1));
}

std::optional<Header> read_header(std::string_view file) {
  const std::size_t counts = kMagic.size() + 2;  // behind the version, two bytes or four
  if (file.size() < counts + 4 || !file.starts_with(kMagic)) return std::nullopt;
  const std::size_t wide = file[kMagic.size()] == 1 ? 2 : 4;
  std::size_t length = 0;
  for (std::size_t i = wide; i-- > 0;) {
    length = length << 8 | static_cast<unsigned char>(file[counts + i]);
  }
  if (length > file.size() - counts - wide) return std::nullopt;
  const std::string_view text = file.substr(counts + wide, length);
  const auto type = value_of(text, "'descr':", '\'', '\'');
  auto shape = value_of(text, "'shape':", '(', ')');
  if (!type || !shape) return std::nullopt;
  if (shape->ends_with(',')) shape->pop_back();
  const bool fortran = text.find("'fortran_order': True") != std::string_view::npos;
  return Header{*type, *shape, fortran, counts + wide + length};
}

std::string name_of(const std::string& type) {
  if (type == kInt32) return "int32";
  if (type == "<i8") return "int64";
  return fmt::format("numbers of type '{}'", type);
}

}  // namespace

std::vector<std::int32_t> read_npy_of_int32(const std::string& path,
                                            std::span<const std::int64_t> shape) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    static_cast<void>(read_regular_file(path, 0));  // says why it is none
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(kMostHeader, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const std::optional<Header> header = read_header(text);
  if (!header) throw ConfigError(fmt::format("{} is no .npy file", path));

  const std::string wanted = fmt::format("{}", fmt::join(shape, ", "));
  if (header->type != kInt32 || header->shape != wanted || header->in_fortran_order) {
    throw ConfigError(fmt::format("{} holds {} of shape [{}]{}, not int32 of shape [{}]", path,
                                  name_of(header->type), header->shape,
                                  header->in_fortran_order ? " in Fortran order" : "", wanted));
  }
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count *= size;
  const auto bytes = static_cast<std::streamsize>(count) * std::streamsize{sizeof(std::int32_t)};
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  file.clear();
  file.seekg(static_cast<std::streamoff>(header->bytes));
  file.read(reinterpret_cast<char*>(numbers.data()), bytes);
  if (file.gcount() != bytes || file.peek() != std::ifstream::traits_type::eof()) {
    throw ConfigError(fmt::format("{} has another number of bytes than its shape says", path));
  }
  return numbers;
}

}  // namespace attnbench
