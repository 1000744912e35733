// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace attnbench {

/// The file that this process runs, "attnbench" where the system does not say.
[[nodiscard]] std::string self_path();

/// The words of an environment variable that is a list with colons, such as PATH, without empty
/// ones; none where it is not set.
[[nodiscard]] std::vector<std::string> environment_list(const char* variable);

/// A folder of this process, gone with this object.
class TemporaryFolder {
 public:
  /// `purpose` is a part of its name. Throws EnvironmentError.
  explicit TemporaryFolder(const std::string& purpose);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;  // one folder, one owner
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  /// The path of a file in it.
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

/// The path as a shell in any folder would type it; as it is where the folder that it starts from
/// has been removed.
[[nodiscard]] std::string lasting_path(const std::string& path);

}  // namespace attnbench
