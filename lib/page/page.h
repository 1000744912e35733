// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iosfwd>

#include "lib/page/page_data.h"

namespace attnbench {

/// One HTML file that needs nothing else: no network, no other file. The frame, its style and its
/// scripts are fixed texts (lib/page/template); whatever comes from results is JSON in a data
/// block, which the scripts show as text only. A policy in the page names the hashes of its own
/// scripts and of its style, and browsers run no other.
void write_page(const PageContent& content, std::ostream& out);

}  // namespace attnbench
