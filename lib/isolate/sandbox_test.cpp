// SPDX-FileCopyrightText: 2026 attnbench authors
// SPDX-License-Identifier: Apache-2.0
// sandbox_test.py tries what a program in it can do.
#include "lib/isolate/sandbox.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <vector>

#include "lib/base/error.h"

namespace attnbench {
namespace {

/// What `act` returns in a process of its own.
int in_a_child(const std::function<int()>& act) {
  const pid_t child = fork();
  if (child == 0) _exit(act());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool limit_calls_here(bool signals_too) {
  prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  return limit_calls(signals_too).empty();
}

TEST(Sandbox, keeps_signals_inside_where_landlock_does_not) {
  const pid_t other = getpid();
  const auto errors_of_signals = [other](bool signals_too) {
    return in_a_child([=] {
      if (!limit_calls_here(signals_too)) return 100;
      if (kill(getpid(), 0) != 0) return 101;
      if (killpg(0, 0) != 0) return 102;
      return kill(other, 0) == 0 ? 0 : errno;
    });
  };
  EXPECT_EQ(errors_of_signals(true), EPERM);
  EXPECT_EQ(errors_of_signals(false), 0) << "then Landlock does";
}

TEST(Sandbox, is_entered_once_and_for_good) {
  EXPECT_EQ(in_a_child([] {
              if (!limit_calls_here(false) || !limit_calls_here(false)) return 100;
              return socket(AF_INET, SOCK_STREAM, 0) < 0 ? errno : 0;
            }),
            EPERM);
}

TEST(Sandbox, tells_the_process_that_starts_a_program_what_is_missing) {
  const std::vector<MissingPart> missing = missing_parts_in(
      missing_parts_text({{"no limit on processes", false}, {"no Landlock", true}}));
  ASSERT_EQ(missing.size(), 2);
  EXPECT_EQ(missing[0].text, "no limit on processes");
  EXPECT_FALSE(missing[0].essential);
  EXPECT_TRUE(missing[1].essential);
  EXPECT_TRUE(missing_parts_in("[]").empty());
  for (const char* text : {"", "was killed by signal 31", "[1]", "{\"a\": 1}"}) {
    EXPECT_THROW(static_cast<void>(missing_parts_in(text)), EnvironmentError) << text;
  }
}

}  // namespace
}  // namespace attnbench
