// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/config/npy_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "lib/base/error.h"
#include "lib/config/testing/npy_file.h"

namespace attnbench {
namespace {

using testing::ElementsAre;
using testing::EndsWith;

constexpr std::array<std::int64_t, 2> kShape{2, 3};
const std::string kHeader = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }";

std::string write(const std::string& bytes) {
  const std::string path = testing::TempDir() + "/lists.npy";
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

std::string refusal_of(const std::string& path) {
  try {
    static_cast<void>(read_npy_of_int32(path, kShape));
  } catch (const ConfigError& error) {
    return error.diagnostics().front().message;
  }
  return "";
}

TEST(NpyReader, reads_int32_of_the_shape_in_each_version_of_the_format) {
  for (const char version : {'\1', '\2', '\3'}) {
    EXPECT_THAT(read_npy_of_int32(write(npy_file(kHeader, {5, -1, 3, 4, 0, 9}, version)), kShape),
                ElementsAre(5, -1, 3, 4, 0, 9));
  }
  constexpr std::array<std::int64_t, 1> kFlat{2};
  EXPECT_THAT(read_npy_of_int32(write(npy_file_of_int32("2,", {7, 8})), kFlat), ElementsAre(7, 8));
}

TEST(NpyReader, says_what_of_a_file_is_another) {
  const auto refused = [](const std::string& header) {
    return refusal_of(write(npy_file(header, {})));
  };
  EXPECT_THAT(refused("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }"),
              EndsWith("lists.npy holds int64 of shape [2, 3], not int32 of shape [2, 3]"));
  EXPECT_THAT(refused("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 4), }"),
              EndsWith("lists.npy holds int32 of shape [2, 4], not int32 of shape [2, 3]"));
  EXPECT_THAT(refused("{'descr': '<i4', 'fortran_order': True, 'shape': (2, 3), }"),
              EndsWith("of shape [2, 3] in Fortran order, not int32 of shape [2, 3]"));
  EXPECT_THAT(refused("{'descr': '>f2', 'fortran_order': False, 'shape': (), }"),
              EndsWith("holds numbers of type '>f2' of shape [], not int32 of shape [2, 3]"));
}

TEST(NpyReader, refuses_what_is_no_such_file) {
  for (const std::string& text : {std::string(), std::string("topk: 3"), std::string("\x93NUMPY"),
                                  npy_file("{'descr': [('a', '<i4')], 'shape': (2, 3), }", {}),
                                  std::string("\x93NUMPY\x01\0\xff\xff{}", 12)}) {
    EXPECT_THAT(refusal_of(write(text)), EndsWith("lists.npy is no .npy file")) << text;
  }
  for (const std::vector<std::int32_t>& numbers :
       {std::vector<std::int32_t>{}, {1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6, 7}}) {
    EXPECT_THAT(refusal_of(write(npy_file_of_int32("2, 3", numbers))),
                EndsWith("lists.npy has another number of bytes than its shape says"));
  }
  EXPECT_THAT(refusal_of(testing::TempDir()), testing::HasSubstr("a folder"));
  EXPECT_THAT(refusal_of("/no/such.npy"), testing::HasSubstr("/no/such.npy: No such file"));
}

}  // namespace
}  // namespace attnbench
