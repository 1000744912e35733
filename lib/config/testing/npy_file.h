// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace attnbench {

/// The bytes of an .npy file as NumPy writes it, in format version `version`.
[[nodiscard]] inline std::string npy_file(const std::string& header,
                                          const std::vector<std::int32_t>& numbers,
                                          char version = '\1') {
  const std::string text = header + std::string(20, ' ') + '\n';
  std::string file = std::string("\x93NUMPY") + version + '\0' + static_cast<char>(text.size());
  file += std::string(version == '\1' ? 1 : 3, '\0') + text;
  const std::size_t begin = file.size();
  file.resize(begin + numbers.size() * sizeof(std::int32_t));
  if (!numbers.empty()) {
    std::memcpy(file.data() + begin, numbers.data(), numbers.size() * sizeof(std::int32_t));
  }
  return file;
}

/// One of int32 in C order; `shape` as in "4, 1, 16".
[[nodiscard]] inline std::string npy_file_of_int32(const std::string& shape,
                                                   const std::vector<std::int32_t>& numbers) {
  return npy_file("{'descr': '<i4', 'fortran_order': False, 'shape': (" + shape + "), }", numbers);
}

}  // namespace attnbench
