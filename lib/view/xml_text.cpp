// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#include "lib/view/xml_text.h"

#include <fmt/format.h>

#include "lib/base/printable.h"

namespace attnbench {

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {  // XML has no way to write other control characters
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
      case '\t':
        out += fmt::format("&#{};", static_cast<int>(c));
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace attnbench
