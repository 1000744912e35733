// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace attnbench {

/// The folder of the packs, Python plug-ins that call the kernels of installed packages: beside the
/// program's folder, where `cmake --install` puts it, or else in the source tree.
[[nodiscard]] std::string packs_folder();

/// The plug-in files, with their whole paths, that a word of --plugin means: the file of that name;
/// of a folder every pack, NAME_pack.py, in it; otherwise "packs" is the folder `packs` and
/// "packs/NAME" one pack of it. Any other word is a file that does not exist, and is given back.
/// Throws ConfigError for a folder without packs, and with the names there are for an unknown pack.
[[nodiscard]] std::vector<std::string> plugin_files(const std::string& word,
                                                    const std::string& packs = packs_folder());

}  // namespace attnbench
