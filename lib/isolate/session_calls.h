// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include "lib/session/session.h"

namespace attnbench {

/// A step of a Session that takes nothing: a worker is asked for it by its name, which a person
/// reads when there is no answer.
template <class Result>
struct SessionCall {
  const char* name;
  Result (Session::*method)();
};
// clang below 17 asks for it.
template <class Result>
SessionCall(const char*, Result (Session::*)()) -> SessionCall<Result>;

/// Each stands here once: RemoteSession asks by this table, the worker answers by it.
inline constexpr std::tuple kSessionCalls{
    SessionCall{"querying its numerics", &Session::numerics},
    SessionCall{"repairing the fixture", &Session::repair_fixture},
    SessionCall{"filling the fixture", &Session::fill_for_timing},
    SessionCall{"planning", &Session::plan},
    SessionCall{"planning what is recorded", &Session::plan_recorded},
    SessionCall{"building indices", &Session::time_indices},
    SessionCall{"finishing", &Session::finish},
};

/// The name of a method of the table.
template <class Result>
[[nodiscard]] constexpr const char* name_of_call(Result (Session::*method)()) {
  const char* name = nullptr;
  std::apply(
      [&](const auto&... call) {
        const auto look = [&](const auto& each) {
          if constexpr (std::is_same_v<decltype(each.method), Result (Session::*)()>) {
            if (each.method == method) name = each.name;
          }
        };
        (look(call), ...);
      },
      kSessionCalls);
  return name;
}

/// Calls `visit` with the call of this name. False where there is none.
template <class Name, class Visit>
[[nodiscard]] bool visit_call(const Name& name, const Visit& visit) {
  return std::apply(
      [&](const auto&... call) { return ((name == call.name && (visit(call), true)) || ...); },
      kSessionCalls);
}

}  // namespace attnbench
