// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "lib/summary/judgement.h"
#include "lib/view/json.h"

namespace attnbench {

/// "accepted: 1.23 times as fast (1.19 to 1.27)", then a line for each case and each reason.
[[nodiscard]] std::string judgement_text(const CandidateJudgement& judgement);

/// verdict, score, cases, reasons; null where there is none.
[[nodiscard]] Json judgement_json(const CandidateJudgement& judgement);

}  // namespace attnbench
