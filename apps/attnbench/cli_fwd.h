// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Headers that only name CLI11's classes include this: CLI/CLI.hpp takes seconds to compile.
namespace CLI {
class App;
class FormatterBase;
class ParseError;
}  // namespace CLI
