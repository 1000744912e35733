// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "lib/verify/verdict.h"

namespace attnbench {

/// What other than its backend kept a cell from being measured, or ended its case.
enum class Trouble : std::uint8_t {
  kNone,
  kEnvironment,  ///< the machine: no memory, say
  kDefect,       ///< attnbench itself
};

/// How far outputs can be trusted that are not known to be wrong.
enum class Agreement : std::uint8_t {
  kNotVerified,  ///< verification was switched off
  kPassed,
  kMistrusted,  ///< they agree, but the agreement proves little
};

/// What a cell's time is worth.
enum class Speed : std::uint8_t {
  kNone,  ///< no time could be taken
  kClaimed,
  kImpossible,  ///< faster than a measured ceiling of the device allows: something is wrong
};

// Each of these holds what can be said of a cell that ended so, and nothing else. The reason names
// the trouble, if there was any, except that of an incorrect cell, which says what is wrong.

/// The backend ran, and its outputs are not known to be wrong.
struct Accepted {
  Agreement agreement = Agreement::kNotVerified;
  Speed speed = Speed::kNone;
  std::string reason = {};  ///< empty when all is well
  Trouble trouble = Trouble::kNone;
};

/// The outputs are wrong. A time is kept for diagnosis; it is no claim of a speed.
struct Incorrect {
  std::string reason;
  bool timed = false;
  Trouble trouble = Trouble::kNone;
};

/// The backend says that it does not do this.
struct Unsupported {
  std::string reason;
};

/// Not run: interrupted, no device, or trouble that is not the backend's.
struct Skipped {
  std::string reason;
  Trouble trouble = Trouble::kNone;
};

/// The backend threw, or its process ended.
struct Crashed {
  std::string reason;
};

/// How a cell ended.
using Outcome = std::variant<Accepted, Incorrect, Unsupported, Skipped, Crashed>;

[[nodiscard]] Verdict verdict_of(const Outcome& outcome);
[[nodiscard]] const std::string& reason_of(const Outcome& outcome);
[[nodiscard]] Trouble trouble_of(const Outcome& outcome);
[[nodiscard]] Speed speed_of(const Outcome& outcome);  ///< kNone unless Accepted
/// Whether a time was taken, whatever it is worth.
[[nodiscard]] bool is_timed(const Outcome& outcome);

}  // namespace attnbench
